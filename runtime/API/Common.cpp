//===- Common.cpp - Engine, stream, settings, errors ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements quern_common.h, quern_threadpool.h, quern_engine_get_info() and quern_set_listener().
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "API/Handles.h"
#include "Core/ProblemCache.h"
#include "Cpu/Execute.h"
#include "Cpu/Threads.h"
#include "Engine/Device.h"
#include "Events/Events.h"
#include "Support/Forks.h"
#include "Support/PerThread.h"

#include "quern/quern_threadpool.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ranges>

using namespace quern;
using namespace quern::api;

namespace {

PerThread<std::string> lastMessage;

std::atomic<int> &defaultFpmathMode() {
  return immortal([] {
    const char *text = secure_getenv("QUERN_DEFAULT_FPMATH_MODE");
    // Unknown values are ignored.
    return new std::atomic<int>(static_cast<int>(fromName<FpmathMode>(text ? text : "").value_or(FpmathMode::Strict)));
  });
}

struct IsaLevel {
  quern_cpu_isa_t value;
  CpuIsa isa;
};
/// Levels of each architecture in descending order. A level of oneDNN for which Quern has no code maps to the next
/// lower one, whose own value is the last of its entries.
constexpr IsaLevel isaLevels[] = {
    {quern_cpu_isa_avx512_core_amx_fp16, CpuIsa::Avx512Amx},
    {quern_cpu_isa_avx512_core_amx, CpuIsa::Avx512Amx},
    {quern_cpu_isa_avx512_core_fp16, CpuIsa::Avx512Fp16},
    {quern_cpu_isa_avx512_core_bf16, CpuIsa::Avx512Bf16},
    {quern_cpu_isa_avx512_core_vnni, CpuIsa::Avx512Vnni},
    {quern_cpu_isa_avx512_core, CpuIsa::Avx512},
    {quern_cpu_isa_avx2_vnni_2, CpuIsa::Avx2},
    {quern_cpu_isa_avx2_vnni, CpuIsa::Avx2},
    {quern_cpu_isa_avx2, CpuIsa::Avx2},
    {quern_cpu_isa_avx, CpuIsa::Sse42},
    {quern_cpu_isa_sse41, CpuIsa::Sse42},
    {quern_cpu_isa_sve_bf16, CpuIsa::SveBf16},
    {quern_cpu_isa_sve, CpuIsa::Sve},
    {quern_cpu_isa_neon_bf16, CpuIsa::NeonBf16},
    {quern_cpu_isa_neon_dotprod, CpuIsa::NeonDotprod},
    {quern_cpu_isa_neon, CpuIsa::Neon},
};

Result<void> createStream(quern_stream_t *stream, Engine *engine, unsigned flags) {
  constexpr unsigned known = quern_stream_in_order | quern_stream_out_of_order | quern_stream_profiling;
  if ((flags & ~known) || !(flags & (quern_stream_in_order | quern_stream_out_of_order)))
    return invalidArguments("stream flags 0x", std::hex, flags,
                            " are not an order (0x1 or 0x2) with or without profiling (0x4)");
  const bool isProfiling = flags & quern_stream_profiling;
  if (!engine->device) {
    wrap(new CpuStream(engine, isProfiling), stream);
    return {};
  }
  const bool isInOrder = !(flags & quern_stream_out_of_order);
  QUERN_ASSIGN_OR_RETURN(std::unique_ptr<Stream> made, engine->device->makeStream(engine, isInOrder, isProfiling));
  wrap(made.release(), stream);
  return {};
}

Result<void> requireProfiling(const Stream &stream) {
  return stream.isProfiling ? Result<void>()
                            : Result<void>(invalidArguments("the stream was created without quern_stream_profiling"));
}

void deliver(const Event &event, quern_listener_t listener, void *context) {
  quern_event_t cEvent{};
  cEvent.kind = event.kind;
  cEvent.ns = event.ns;
  if (event.primitive) {
    wrap(&event.primitive->descriptor(), &cEvent.primitive_desc);
    wrap(event.primitive, &cEvent.primitive);
    cEvent.origin = event.origin;
  }
  const PrimitiveDescObject specialized{event.problem};
  if (event.problem) {
    wrap(&specialized, &cEvent.primitive_desc);
    cEvent.origin = event.origin;
  }
  cEvent.nargs = static_cast<int>(event.arguments.size());
  cEvent.args = event.arguments.data();
  cEvent.status = toC<quern_status_t>(event.status);
  cEvent.function = event.function;
  cEvent.message = event.message;
  listener(context, &cEvent);
}

} // namespace

quern_status_t quern::api::fail(Status status, const char *message, const char *function) noexcept {
  if (isInListener())
    return toC<quern_status_t>(status);
  const WithoutCancellation whole; // a listener is the caller's code and may reach a cancellation point
  // An absent property and the end of the implementations are results, not failures.
  if (isWanted(EventFail) && status != Status::NotRequired && status != Status::LastImplReached)
    reportFailed(function, status, message);
  std::string *const kept = lastMessage.get();
  try {
    if (kept)
      *kept = message;
  } catch (...) {
    kept->clear();
  }
  return toC<quern_status_t>(status);
}

quern_status_t quern::api::fail(const Error &error, const char *function) noexcept {
  return fail(error.status, error.message.c_str(), function);
}

extern "C" {

const char *quern_get_last_error_message(void) noexcept {
  const std::string *const kept = lastMessage.get();
  return kept ? kept->c_str() : "";
}

const char *quern_status_name(quern_status_t status) noexcept { return quern::toString(fromC<Status>(status)); }

const quern_version_t *quern_version(void) noexcept {
  // The build id is a string literal, hence terminated.
  return &immortal([] {
    return new const quern_version_t{QUERN_VERSION_MAJOR,      QUERN_VERSION_MINOR, QUERN_VERSION_PATCH,
                                     compilerBuildId().data(), QUERN_RUNTIME_TBB,   QUERN_RUNTIME_ZE};
  });
}

// --- Engine ---------------------------------------------------------------

size_t quern_engine_get_count(quern_engine_kind_t kind) noexcept {
  size_t count = kind == quern_cpu ? 1 : 0;
  if (kind == quern_gpu)
    (void)guarded([&]() -> Result<void> {
      QUERN_ASSIGN_OR_RETURN(std::span<const std::shared_ptr<Device>> devices, allDevices());
      count = devices.size();
      return {};
    });
  return count;
}

quern_status_t quern_engine_create(quern_engine_t *engine, quern_engine_kind_t kind, size_t index) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("engine", engine);
    *engine = nullptr;
    if (kind != quern_cpu && kind != quern_gpu)
      return invalidArguments("engine kind ", static_cast<int>(kind), " is neither cpu (1) nor gpu (2)");
    Result<std::span<const std::shared_ptr<Device>>> devices =
        kind == quern_gpu ? allDevices() : std::span<const std::shared_ptr<Device>>();
    if (!devices)
      return devices.takeError();
    const size_t count = kind == quern_gpu ? devices->size() : 1;
    if (index >= count)
      return invalidArguments("there is no ", kind == quern_cpu ? "cpu" : "gpu", " engine ", index,
                              ": their number is ", count);
    Engine *created = kind == quern_gpu ? new Engine((*devices)[index]) : new Engine(EngineKind::Cpu);
    EngineRef::retain(created);
    wrap(created, engine);
    return {};
  });
}

quern_status_t quern_engine_get_kind(quern_engine_t engine, quern_engine_kind_t *kind) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("engine", engine, "kind", kind);
    *kind = toC<quern_engine_kind_t>(unwrap(engine)->kind);
    return {};
  });
}

quern_status_t quern_engine_get_info(quern_engine_t engine, quern_engine_info_t *info) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("engine", engine, "info", info);
    *info = {unwrap(engine)->name(), unwrap(engine)->targetText.c_str()};
    return {};
  });
}

quern_status_t quern_engine_destroy(quern_engine_t engine) noexcept {
  if (!engine)
    return quern_success;
  return guarded([&]() -> Result<void> {
    // Cached objects of a borrowed context must be freed now: the caller may destroy the context after this call.
    if (const std::shared_ptr<Device> device = unwrap(engine)->device; device && device->isLent()) {
      ProblemCache::process().forget(*device);
      Caches::process().forget(*device);
    }
    EngineRef::release(unwrap(engine));
    return {};
  });
}

// --- Stream ---------------------------------------------------------------

quern_status_t quern_stream_create(quern_stream_t *stream, quern_engine_t engine, unsigned flags) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("stream", stream);
    *stream = nullptr;
    QUERN_REQUIRE("engine", engine);
    return createStream(stream, unwrap(engine), flags);
  });
}

quern_status_t quern_stream_get_engine(const_quern_stream_t stream, quern_engine_t *engine) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("stream", stream, "engine", engine);
    wrap(unwrap(stream)->engine.get(), engine);
    return {};
  });
}

quern_status_t quern_stream_wait(quern_stream_t stream) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("stream", stream);
    return unwrap(stream)->wait();
  });
}

quern_status_t quern_stream_destroy(quern_stream_t stream) noexcept { return destroy(unwrap(stream)); }

quern_status_t quern_reset_profiling(quern_stream_t stream) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("stream", stream);
    QUERN_RETURN_IF_ERROR(requireProfiling(*unwrap(stream)));
    return unwrap(stream)->resetProfile();
  });
}

quern_status_t quern_query_profiling_data(quern_stream_t stream, quern_profiling_data_kind_t kind, int *count,
                                          uint64_t *data) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("stream", stream, "num_entries", count);
    QUERN_RETURN_IF_ERROR(requireProfiling(*unwrap(stream)));
    if (kind != quern_profiling_data_kind_time)
      return invalidArguments("profiling data kind ", static_cast<int>(kind), " is not time (1)");
    const Result<std::vector<uint64_t>> durations = unwrap(stream)->profile();
    if (!durations)
      return durations.error();
    if (data && (*count < 0 || static_cast<size_t>(*count) < durations->size()))
      return invalidArguments("there is room for ", *count, " profiling entries; there are ", durations->size());
    if (data)
      std::copy(durations->begin(), durations->end(), data);
    *count = static_cast<int>(durations->size());
    return {};
  });
}

quern_status_t quern_threadpool_interop_stream_create(quern_stream_t *stream, quern_engine_t engine,
                                                      void *threadpool) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("stream", stream);
    *stream = nullptr;
    QUERN_REQUIRE("engine", engine);
    if (unwrap(engine)->device)
      return invalidArguments("a stream on a thread pool needs a cpu engine; the engine is a gpu");
    wrap(new CpuStream(unwrap(engine), static_cast<threadpool_interop::threadpool_iface *>(threadpool)), stream);
    return {};
  });
}

quern_status_t quern_threadpool_interop_stream_get_threadpool(quern_stream_t stream, void **threadpool) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("stream", stream, "threadpool", threadpool);
    const auto *onCpu = dynamic_cast<const CpuStream *>(unwrap(stream));
    if (!onCpu || !onCpu->ownThreads)
      return invalidArguments("the stream was not created with a thread pool");
    *threadpool = onCpu->pool;
    return {};
  });
}

quern_status_t quern_threadpool_interop_set_max_concurrency(int threads) noexcept {
  return guarded([&] { return setMaxConcurrency(threads); });
}

quern_status_t quern_threadpool_interop_get_max_concurrency(int *threads) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("max_concurrency", threads);
    *threads = maxConcurrency();
    return {};
  });
}

// --- Settings -------------------------------------------------------------

quern_status_t quern_get_default_fpmath_mode(quern_fpmath_mode_t *mode) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("mode", mode);
    *mode = static_cast<quern_fpmath_mode_t>(defaultFpmathMode().load(std::memory_order_relaxed));
    return {};
  });
}

quern_status_t quern_set_default_fpmath_mode(quern_fpmath_mode_t mode) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_RETURN_IF_ERROR(checkedEnum<FpmathMode>("fpmath mode", mode));
    defaultFpmathMode().store(mode, std::memory_order_relaxed);
    return {};
  });
}

quern_status_t quern_set_max_cpu_isa(quern_cpu_isa_t isa) noexcept {
  return guarded([&]() -> Result<void> {
    if (isa == quern_cpu_isa_default)
      return setMaxCpuIsa(isasOf(archOf(detectedIsa())).back());
    for (const IsaLevel &level : isaLevels)
      if (level.value == isa)
        return setMaxCpuIsa(level.isa);
    return invalidArguments("instruction set 0x", std::hex, static_cast<int>(isa), " is not one of quern_cpu_isa_t");
  });
}

quern_cpu_isa_t quern_get_effective_cpu_isa(void) noexcept {
  quern_cpu_isa_t effective = quern_cpu_isa_default; // only if memory is exhausted
  (void)guarded([&]() -> Result<void> {
    const auto isHost = [](const IsaLevel &level) { return level.isa == Target::host().isa; };
    effective = std::ranges::find_if(std::views::reverse(isaLevels), isHost)->value;
    return {};
  });
  return effective;
}

quern_status_t quern_set_verbose(int level) noexcept {
  return guarded([&]() -> Result<void> {
    if (level < 0 || level > 2)
      return invalidArguments("the verbose level is ", level, "; it must be 0 to 2");
    setVerboseLevel(level);
    return {};
  });
}

quern_status_t quern_set_listener(quern_listener_t listener, void *context, unsigned events) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("listener", listener);
    return setListener(listener, context, events, deliver);
  });
}

quern_status_t quern_set_num_threads(int count) noexcept {
  return guarded([&] { return setDefaultThreadCount(count); });
}

quern_status_t quern_get_num_threads(int *count) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("count", count);
    *count = defaultThreadCount();
    return {};
  });
}

} // extern "C"
