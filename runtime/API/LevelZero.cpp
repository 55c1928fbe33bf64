//===- LevelZero.cpp - Engines, streams and events of Level Zero ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements quern_ze.h.
//
//===----------------------------------------------------------------------===//
#include "quern/quern_ze.h"

#include "API/Guard.h"
#include "API/Handles.h"
#include "Desc/Key.h"
#include "LevelZero/Stream.h"

using namespace quern;
using namespace quern::api;

namespace {

/// Returns the device of an engine; null for a CPU.
ze::Device *deviceOf(quern_engine_t engine) { return dynamic_cast<ze::Device *>(unwrap(engine)->device.get()); }
ze::Stream *onDevice(quern_stream_t stream) { return dynamic_cast<ze::Stream *>(unwrap(stream)); }

Result<void> requireDevice(quern_engine_t engine) {
  return deviceOf(engine) ? Result<void>()
                          : Result<void>(invalidArguments("the engine is a cpu, not a device of Level Zero"));
}

/// Returns the identifier of an engine's cache blob. An engine has no kernels; its blob consists of this identifier
/// (build, device and driver) and the target.
std::string blobIdOf(const std::string &identity) {
  return concat("quern engine ", compilerBuildId(), ' ', identity, '\n');
}

Result<void> createEngine(quern_engine_t *engine, ze_driver_handle_t driver, ze_device_handle_t device,
                          ze_context_handle_t context) {
  QUERN_ASSIGN_OR_RETURN(std::shared_ptr<ze::Device> lent, ze::Device::lend(driver, device, context));
  auto *created = new Engine(std::move(lent));
  EngineRef::retain(created);
  wrap(created, engine);
  return {};
}

template <typename Handle>
quern_status_t giveHandle(quern_engine_t engine, Handle (ze::Device::*handleOf)() const, const char *name,
                          Handle *handle, const char *function = __builtin_FUNCTION()) noexcept {
  const auto give = [&]() -> Result<void> {
    QUERN_REQUIRE("engine", engine, name, handle);
    Result<void> ok = requireDevice(engine);
    if (ok)
      *handle = (deviceOf(engine)->*handleOf)();
    return ok;
  };
  return guarded(give, function);
}

} // namespace

extern "C" {

quern_status_t quern_ze_interop_engine_create(quern_engine_t *engine, ze_driver_handle_t driver,
                                              ze_device_handle_t device, ze_context_handle_t context) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("engine", engine);
    *engine = nullptr;
    QUERN_REQUIRE("driver", driver, "device", device, "context", context);
    return createEngine(engine, driver, device, context);
  });
}

quern_status_t quern_ze_interop_engine_get_cache_blob_id(ze_driver_handle_t driver, ze_device_handle_t device,
                                                         size_t *size, uint8_t *id) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("driver", driver, "device", device, "size", size);
    const Result<std::string> identity = ze::Device::identityOf(driver, device);
    return identity ? copyBytes(blobIdOf(*identity), "cache blob id", size, id) : Result<void>(identity.error());
  });
}

quern_status_t quern_ze_interop_engine_get_cache_blob(quern_engine_t engine, size_t *size, uint8_t *blob) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("engine", engine, "size", size);
    QUERN_RETURN_IF_ERROR(requireDevice(engine));
    return copyBytes(blobIdOf(deviceOf(engine)->identity()) + unwrap(engine)->targetText, "cache blob", size, blob);
  });
}

quern_status_t quern_ze_interop_engine_create_from_cache_blob(quern_engine_t *engine, ze_driver_handle_t driver,
                                                              ze_device_handle_t device, ze_context_handle_t context,
                                                              size_t size, const uint8_t *blob) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("engine", engine);
    *engine = nullptr;
    QUERN_REQUIRE("driver", driver, "device", device, "context", context, "cache_blob", blob);
    const Result<std::string> identity = ze::Device::identityOf(driver, device);
    if (!identity)
      return identity.error();
    if (!std::string_view(reinterpret_cast<const char *>(blob), size).starts_with(blobIdOf(*identity)))
      return invalidArguments("the cache blob is of another device, driver or build");
    return createEngine(engine, driver, device, context);
  });
}

quern_status_t quern_ze_interop_engine_get_context(quern_engine_t engine, ze_context_handle_t *context) noexcept {
  return giveHandle(engine, &ze::Device::context, "context", context);
}

quern_status_t quern_ze_interop_engine_get_device(quern_engine_t engine, ze_device_handle_t *device) noexcept {
  return giveHandle(engine, &ze::Device::handle, "device", device);
}

quern_status_t quern_ze_interop_engine_get_driver(quern_engine_t engine, ze_driver_handle_t *driver) noexcept {
  return giveHandle(engine, &ze::Device::driverHandle, "driver", driver);
}

quern_status_t quern_ze_interop_stream_create(quern_stream_t *stream, quern_engine_t engine,
                                              ze_command_list_handle_t list, int profiling) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("stream", stream);
    *stream = nullptr;
    QUERN_REQUIRE("engine", engine, "list", list);
    QUERN_RETURN_IF_ERROR(requireDevice(engine));
    Result<std::unique_ptr<Stream>> made =
        ze::Stream::create(unwrap(engine), *deviceOf(engine), true, profiling != 0, list);
    if (!made)
      return made.takeError();
    wrap(made->release(), stream);
    return {};
  });
}

quern_status_t quern_ze_interop_stream_get_list(quern_stream_t stream, ze_command_list_handle_t *list) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("stream", stream, "list", list);
    if (!onDevice(stream))
      return invalidArguments("the stream is on a cpu, not on a device of Level Zero");
    *list = onDevice(stream)->commandList();
    return {};
  });
}

quern_status_t quern_ze_interop_memory_create(quern_memory_t *memory, const_quern_memory_desc_t desc,
                                              quern_engine_t engine, int nhandles, void **handles) noexcept {
  const quern_status_t checked = guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory);
    *memory = nullptr;
    QUERN_REQUIRE("memory_desc", desc, "engine", engine);
    return requireDevice(engine);
  });
  return checked == quern_success ? quern_memory_create_v2(memory, desc, engine, nhandles, handles) : checked;
}

quern_status_t quern_ze_interop_primitive_execute(const_quern_primitive_t primitive, quern_stream_t stream, int nargs,
                                                  const quern_exec_arg_t *args, int ndeps,
                                                  const ze_event_handle_t *deps, ze_event_handle_t *event) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive", primitive, "stream", stream);
    if (nargs < 0 || ndeps < 0)
      return invalidArguments("nargs is ", nargs, " and ndeps is ", ndeps, "; both must be at least 0");
    if ((nargs > 0 && !args) || (ndeps > 0 && !deps))
      return invalidArguments(nargs > 0 && !args ? "args" : "deps", " is null");
    if (event)
      *event = nullptr;
    for (int i = 0; i < ndeps; ++i)
      if (!deps[i])
        return invalidArguments("deps[", i, "] is null");
    if (!onDevice(stream))
      return invalidArguments("the stream is on a cpu, not on a device of Level Zero");
    const ze::EventLinks links{{}, {deps, static_cast<size_t>(ndeps)}, event};
    Result<void> done = unwrap(primitive)->execute(*unwrap(stream), {args, static_cast<size_t>(nargs)}, &links);
    if (!done && event)
      *event = nullptr;
    return done;
  });
}

} // extern "C"
