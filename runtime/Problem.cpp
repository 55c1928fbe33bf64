//===- Problem.cpp - A verified problem on an engine ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Creation, and the questions that need the kernel.
//
//===----------------------------------------------------------------------===//
#include "Problem.h"

#include "Cpu/Scratch.h"
#include "Cpu/Threads.h"

namespace quern {
namespace {

thread_local int concurrency = 0; ///< 0: the default threads

} // namespace

int maxConcurrency() { return concurrency ? concurrency : defaultThreadCount(); }

Result<void> setMaxConcurrency(int threads) {
  if (threads < 1 || threads > maxThreadCount)
    return invalidArguments("the concurrency is ", threads, "; it must be 1 to ", maxThreadCount);
  concurrency = threads;
  return {};
}

Problem::Problem(Engine *engine, Engine *dstEngine, VerifiedProblem &&verified)
    : device(engine), dstDevice(dstEngine), problem(std::move(verified)), kernelKey(makeKey(problem.desc, engine->target)),
      threads(maxConcurrency()) {}

Result<std::shared_ptr<const Problem>> Problem::create(Engine *engine, const PrimitiveDesc &desc, const PrimitiveDesc *hint,
                                                       Engine *dstEngine) {
  Result<VerifiedProblem> verified = verify(desc, engine->target, hint);
  if (!verified)
    return verified.takeError();
  return std::shared_ptr<const Problem>(new Problem(engine, dstEngine ? dstEngine : engine, std::move(*verified)));
}

Result<AcquiredKernel> Problem::acquire() const {
  if (isNoop())
    return AcquiredKernel{nullptr, quern_origin_none, 0, 0};
  {
    std::lock_guard lock(mutex);
    if (held)
      return AcquiredKernel{held, quern_origin_memory, 0, 0};
  }
  return Kernels::process().acquire(problem, kernelKey, device->target);
}

Result<std::shared_ptr<const Executable>> Problem::hold() const {
  Result<AcquiredKernel> acquired = acquire();
  if (!acquired)
    return acquired.takeError();
  std::lock_guard lock(mutex);
  if (!held)
    held = acquired->executable;
  return held;
}

const std::string &Problem::text() const {
  std::call_once(textOnce, [this] { textForm = problem.desc.text(); });
  return textForm;
}

Result<int64_t> Problem::scratchpadBytes() const {
  Result<std::shared_ptr<const Executable>> executable = hold();
  if (!executable)
    return executable.takeError();
  return *executable ? quern::scratchpadBytes((*executable)->scratch(), threads) : 0;
}

Result<const TensorDesc *> Problem::scratchpadDesc() const {
  if (!usesCallerScratchpad())
    return &scratchpad;
  Result<int64_t> bytes = scratchpadBytes();
  if (!bytes)
    return bytes.takeError();
  if (*bytes == 0)
    return &scratchpad;
  Result<TensorDesc> desc = TensorDesc::dense(std::span<const int64_t>(&*bytes, 1), DataType::U8);
  if (!desc)
    return desc.takeError();
  std::call_once(scratchpadOnce, [&] { scratchpad = *desc; });
  return &scratchpad;
}

Result<double> Problem::estimatedSeconds() const {
  Result<std::shared_ptr<const Executable>> executable = hold();
  if (!executable)
    return executable.takeError();
  return *executable ? (*executable)->estimatedSeconds() : 0.0;
}

} // namespace quern
