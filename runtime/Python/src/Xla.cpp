//===- Xla.cpp - Kernels as custom calls of XLA ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The library of quern.jax and quern/quern_xla.h. It does not require Python.
//
//===----------------------------------------------------------------------===//
#include "Frame.h"

#include "quern/quern.h"
#include "quern/quern_threadpool.h"
#include "quern/quern_threadpool_iface.hpp"
#include "quern/quern_xla.h"

#include "xla/ffi/api/ffi.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace ffi = xla::ffi;

namespace quern::xla_ffi {
namespace {

/// A parallel_for(). The caller and tasks of the pool claim its items. The caller waits only for claimed items, never
/// for tasks that have not started, so a busy pool does not delay it.
struct Work {
  Work(int count, const std::function<void(int, int)> &function) : count(count), function(&function) {}

  void run() {
    int done = 0;
    for (int item = next.fetch_add(1); item < count; item = next.fetch_add(1), ++done)
      (*function)(item, count);
    if (done == 0 || finished.fetch_add(done) + done < count)
      return;
    const std::scoped_lock lock(mutex); // a waiting thread has either seen `finished`, or waits
    all.notify_one();
  }

  void wait() {
    for (int spin = 0; spin < 2000; ++spin)
      if (finished.load() >= count)
        return;
    std::unique_lock lock(mutex);
    all.wait(lock, [&] { return finished.load() >= count; });
  }

  const int count;
  const std::function<void(int, int)> *function; ///< alive until all items are done
  std::atomic<int> next{0}, finished{0};
  std::mutex mutex;
  std::condition_variable all;
};

/// The threads of XLA, which each call sets.
class Pool final : public threadpool_interop::threadpool_iface {
public:
  void use(ffi::ThreadPool *threads) {
    current = threads;
    count = threads ? static_cast<int>(threads->num_threads()) : 1;
  }

  int get_num_threads() const override { return count > 0 ? count : 1; }
  bool get_in_parallel() const override { return false; }
  uint64_t get_flags() const override { return 0; }
  void wait() override {}

  void parallel_for(int n, const std::function<void(int, int)> &fn) override {
    const auto work = std::make_shared<Work>(n, fn);
    for (int helper = 1; helper < n && helper < count; ++helper)
      current->Schedule([work] { work->run(); });
    work->run();
    work->wait();
  }

private:
  ffi::ThreadPool *current = nullptr;
  int count = 1;
};

std::string lastMessage() { return quern_get_last_error_message(); }

template <auto Destroy> struct Destroyer {
  template <typename Handle> void operator()(Handle *handle) const noexcept { Destroy(handle); }
};

/// The state of an execution; concurrent executions use different ones.
class Call {
public:
  /// Creates the memory objects and the stream. If it returns false, quern_get_last_error_message() has the reason.
  bool open(quern_engine_t engine, const_quern_primitive_desc_t problem, ffi::Span<const int32_t> indices) {
    for (const int32_t index : indices) {
      if (frame.add(engine, problem, index) != quern_success)
        return false;
      bytes.push_back(
          quern_memory_desc_get_size(quern_primitive_desc_query_md(problem, quern_query_exec_arg_md, index)));
    }
    quern_stream_t made = nullptr;
    const bool isMade = quern_threadpool_interop_stream_create(&made, engine, &pool) == quern_success;
    stream.reset(made);
    return isMade;
  }

  ffi::Error execute(const_quern_primitive_t primitive, ffi::ThreadPool &threads, ffi::RemainingArgs operands,
                     ffi::RemainingRets results) {
    if (operands.size() + results.size() != bytes.size())
      return ffi::Error::InvalidArgument("quern: the call has " + std::to_string(operands.size() + results.size()) +
                                         " buffers and " + std::to_string(bytes.size()) + " arguments");
    for (size_t i = 0; i < bytes.size(); ++i) {
      const bool isOperand = i < operands.size();
      void *data = nullptr;
      size_t size = 0;
      if (isOperand) {
        const auto buffer = operands.get<ffi::AnyBuffer>(i);
        data = buffer->untyped_data();
        size = buffer->size_bytes();
      } else {
        auto buffer = results.get<ffi::AnyBuffer>(i - operands.size());
        data = (*buffer)->untyped_data();
        size = (*buffer)->size_bytes();
      }
      if (size != bytes[i])
        return ffi::Error::InvalidArgument("quern: buffer " + std::to_string(i) + " has " + std::to_string(size) +
                                           " bytes; argument " + std::to_string(frame.arguments()[i].arg) + " has " +
                                           std::to_string(bytes[i]));
      if (frame.set(i, data) != quern_success)
        return ffi::Error::Internal("quern: " + lastMessage());
    }
    pool.use(&threads);
    const quern_status_t status = frame.execute(primitive, stream.get());
    pool.use(nullptr);
    return status == quern_success ? ffi::Error::Success() : ffi::Error::Internal("quern: " + lastMessage());
  }

private:
  Pool pool;
  std::unique_ptr<quern_stream, Destroyer<quern_stream_destroy>> stream;
  python::Frame frame;
  std::vector<size_t> bytes;
};

/// The kernel of a call, which an XLA executable keeps.
class XlaKernel {
public:
  static ffi::TypeId id;

  static ffi::ErrorOr<std::unique_ptr<XlaKernel>> create(std::string_view line, ffi::Span<const int32_t> indices) {
    auto kernel = std::make_unique<XlaKernel>();
    quern_engine_t engine = nullptr;
    quern_primitive_desc_t problem = nullptr;
    quern_primitive_t primitive = nullptr;
    quern_status_t status = quern_engine_create(&engine, quern_cpu, 0);
    kernel->engine.reset(engine);
    if (status == quern_success)
      status = quern_primitive_desc_create_from_text(&problem, engine, std::string(line).c_str());
    kernel->problem.reset(problem);
    if (status == quern_success)
      status = quern_primitive_create(&primitive, problem);
    kernel->primitive.reset(primitive);
    if (status != quern_success)
      return ffi::Unexpected(ffi::Error::InvalidArgument("quern: " + lastMessage()));
    kernel->indices.assign(indices.begin(), indices.end());
    std::unique_ptr<Call> first = kernel->take();
    if (!first)
      return ffi::Unexpected(ffi::Error::InvalidArgument("quern: " + lastMessage()));
    kernel->idle.push_back(std::move(first));
    return kernel;
  }

  ffi::Error execute(ffi::ThreadPool &threads, ffi::RemainingArgs operands, ffi::RemainingRets results) {
    std::unique_ptr<Call> call = take();
    if (!call)
      return ffi::Error::Internal("quern: " + lastMessage());
    ffi::Error error = call->execute(primitive.get(), threads, operands, results);
    const std::scoped_lock lock(mutex);
    idle.push_back(std::move(call));
    return error;
  }

private:
  std::unique_ptr<Call> take() {
    {
      const std::scoped_lock lock(mutex);
      if (!idle.empty()) {
        std::unique_ptr<Call> call = std::move(idle.back());
        idle.pop_back();
        return call;
      }
    }
    auto call = std::make_unique<Call>();
    return call->open(engine.get(), problem.get(), {indices.data(), indices.size()}) ? std::move(call) : nullptr;
  }

  std::unique_ptr<quern_engine, Destroyer<quern_engine_destroy>> engine;
  std::unique_ptr<quern_primitive_desc, Destroyer<quern_primitive_desc_destroy>> problem;
  std::unique_ptr<quern_primitive, Destroyer<quern_primitive_destroy>> primitive;
  std::vector<int32_t> indices;
  std::mutex mutex;
  std::vector<std::unique_ptr<Call>> idle;
};
ffi::TypeId XlaKernel::id = XLA_FFI_UNKNOWN_TYPE_ID;

constexpr XLA_FFI_TypeInfo kernelInfo = ffi::MakeTypeInfo<XlaKernel>();

XLA_FFI_DEFINE_HANDLER(
    instantiate, XlaKernel::create,
    ffi::Ffi::BindInstantiate().Attr<std::string_view>("line").Attr<ffi::Span<const int32_t>>("arguments"));

ffi::Error run(XlaKernel *kernel, ffi::ThreadPool threads, ffi::RemainingArgs operands, ffi::RemainingRets results) {
  return kernel->execute(threads, operands, results);
}
XLA_FFI_DEFINE_HANDLER(
    execute, run, ffi::Ffi::Bind().Ctx<ffi::State<XlaKernel>>().Ctx<ffi::ThreadPool>().RemainingArgs().RemainingRets());

/// Returns true if XLA accepted a registration.
bool isAccepted(const XLA_FFI_Api *api, XLA_FFI_Error *error) {
  if (!error)
    return true;
  ffi::internal::DestroyError(api, error);
  return false;
}

} // namespace
} // namespace quern::xla_ffi

// For quern.jax, which registers them through jaxlib.
extern "C" QUERN_API XLA_FFI_Error *quern_xla_instantiate(XLA_FFI_CallFrame *frame) {
  return quern::xla_ffi::instantiate(frame);
}
extern "C" QUERN_API XLA_FFI_Error *quern_xla_execute(XLA_FFI_CallFrame *frame) {
  return quern::xla_ffi::execute(frame);
}
extern "C" QUERN_API void *quern_xla_type_id() { return &quern::xla_ffi::XlaKernel::id; }
extern "C" QUERN_API const void *quern_xla_type_info() { return &quern::xla_ffi::kernelInfo; }

quern_status_t quern_xla_register(const XLA_FFI_Api *api) noexcept {
  using namespace quern::xla_ffi;
  if (!api)
    return quern_invalid_arguments;
  try {
    if (!isAccepted(api, ffi::Ffi::RegisterTypeId(api, "quern.kernel", &XlaKernel::id, &kernelInfo)))
      return quern_invalid_arguments;
    const XLA_FFI_Handler_Bundle bundle = {quern_xla_instantiate, nullptr, nullptr, quern_xla_execute};
    return isAccepted(api, ffi::Ffi::RegisterStaticHandler(api, "quern", "Host", bundle)) ? quern_success
                                                                                          : quern_invalid_arguments;
  } catch (...) {
    return quern_out_of_memory;
  }
}
