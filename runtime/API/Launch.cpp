//===- Launch.cpp - C interface: kernels as plain functions ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements quern_launch.h. A visit iterates over the launch program like an execution, and passes each call to the
// visitor instead of running it.
//
//===----------------------------------------------------------------------===//
#include "quern/quern_launch.h"

#include "API/Guard.h"
#include "API/Handles.h"
#include "Core/Primitive.h"
#include "Launch/ProgramRun.h"
#include "Launch/Scratch.h"

#include <algorithm>

namespace quern::api {
namespace {

constexpr quern_launch_data_t noData = {nullptr, nullptr, nullptr};

/// Calls body(executable); the executable is null for an empty tensor, which has no kernel. Fails if one of `required`,
/// pairs of names and pointers, is null.
template <typename Body, typename... Required>
Result<void> withExecutable(const_quern_primitive_t handle, Body body, const Required &...required) {
  QUERN_REQUIRE("primitive", handle, required...);
  const Result<const Executable *> executable = unwrap(handle)->executable();
  if (!executable)
    return executable.error();
  if (*executable && unwrap(handle)->problem().engine()->device)
    return unimplemented("the primitive is on a device; only those on a cpu have functions that the host can call");
  return body(*executable);
}

/// Returns the functions of the steps, without repetitions, in the order of the steps.
std::vector<quern_kernel_fn> functionsOf(const Executable *executable) {
  std::vector<quern_kernel_fn> functions;
  for (const KernelStep &step : executable ? executable->steps() : std::span<const KernelStep>())
    if (std::ranges::find(functions, step.function) == functions.end())
      functions.push_back(step.function);
  return functions;
}

/// Sizes of one execution and the numbers of its launch program.
class LaunchNumbers {
public:
  static Result<LaunchNumbers> of(const Executable &executable, const quern_launch_data_t &data) {
    const Program &program = executable.program();
    if (program.sizeCount() && !data.sizes)
      return invalidArguments("sizes is null; the launch takes ", program.sizeCount());
    if (program.derivedSizeCount() && !data.buffers)
      return invalidArguments("buffers is null; sizes of the launch are read from them");
    LaunchNumbers numbers;
    numbers.sizes = data.sizes;
    if (program.derivedSizeCount() || program.checksSizes()) {
      numbers.allSizes.resize(program.sizeCount() + program.derivedSizeCount());
      QUERN_RETURN_IF_ERROR(program.deriveSizes(data.buffers, data.sizes, numbers.allSizes.data()));
      numbers.sizes = numbers.allSizes.data();
    }
    numbers.bound = program.fixedNumbers();
    if (!program.isPlain() && !numbers.bound) {
      numbers.boundNumbers.resize(program.numberCount());
      QUERN_RETURN_IF_ERROR(program.bind(numbers.sizes, nullptr, numbers.boundNumbers.data()));
      numbers.bound = numbers.boundNumbers.data();
    }
    return numbers;
  }

  const int64_t *sizes = nullptr, *bound = nullptr; ///< `bound` is null for a plain program

private:
  std::vector<int64_t> allSizes, boundNumbers; // the object is moved, not copied, so the pointers stay valid
};

Result<int64_t> sharedBytesOf(const Executable &executable, const LaunchNumbers &numbers) {
  return executable.sharedBytes(numbers.bound ? executable.program().regionsEnd(numbers.bound) : 0);
}

Result<void> checkMemory(const Executable &executable, const LaunchNumbers &numbers, const quern_launch_data_t &data) {
  if (!executable.arguments().empty() && !data.buffers)
    return invalidArguments("buffers is null; the launch has ", executable.arguments().size(), " arguments");
  const Result<int64_t> bytes = sharedBytesOf(executable, numbers);
  if (!bytes)
    return bytes.error();
  if (*bytes > 0 && !data.shared)
    return invalidArguments("shared is null; the launch shares ", *bytes, " bytes");
  if (*bytes > 0 && reinterpret_cast<uintptr_t>(data.shared) % scratchAlignment)
    return invalidArguments("shared must be aligned to ", scratchAlignment, " bytes");
  return {};
}

/// Returns the error with the status of a visitor that ended the visit.
Error endedBy(quern_status_t status) { return {static_cast<Status>(status), "the visitor of a launch ended it"}; }

Result<void> visitPlain(const Executable &executable, const LaunchNumbers &numbers, const quern_launch_data_t &data,
                        quern_launch_visitor_t visitor, void *context) {
  const KernelStep &step = executable.steps()[0];
  const int64_t iterations = iterationsOf(step, numbers.sizes);
  if (iterations < 0)
    return unimplemented("a launch step has more than ", INT64_MAX, " iterations");
  void *named[maxStepBuffers];
  const size_t count = step.buffers.empty() ? executable.arguments().size() : step.buffers.size();
  const quern_launch_call_t call = {step.function,
                                    {plainBuffersOf(step, data.buffers, named), nullptr, data.shared, numbers.sizes},
                                    static_cast<int32_t>(count),
                                    0,
                                    iterations,
                                    step.nsPerIteration};
  const quern_status_t status = visitor(context, &call);
  return status == quern_success ? Result<void>() : endedBy(status);
}

Result<void> visitProgram(const Executable &executable, const LaunchNumbers &numbers, const quern_launch_data_t &data,
                          quern_launch_visitor_t visitor, void *context) {
  const Program &program = executable.program();
  char *regions = static_cast<char *>(data.shared) + (data.shared ? executable.regionsStart() : 0);
  const ProgramRun run{program, numbers.bound, data.buffers, numbers.sizes, data.shared, regions};
  for (ProgramCursor cursor(program, numbers.bound); cursor.next();) {
    const Program::StepGroup &group = program.group(cursor.group());
    for (uint32_t i = 0; i < group.stepCount; ++i) {
      const Program::BoundStep &step = program.step(group.firstStep + i);
      void *named[maxStepBuffers];
      const size_t count = step.call->buffers.empty() ? executable.arguments().size() : step.call->buffers.size();
      const quern_launch_call_t call = {
          step.call->function,
          {run.buffersOf(step, cursor.indices(), named), nullptr, data.shared, numbers.sizes},
          static_cast<int32_t>(count),
          i > 0,
          numbers.bound[step.iterations],
          step.call->nsPerIteration};
      if (const quern_status_t status = visitor(context, &call); status != quern_success)
        return endedBy(status);
    }
  }
  return {};
}

} // namespace
} // namespace quern::api

using namespace quern;
using namespace quern::api;

uint32_t quern_kernel_abi_version(void) noexcept { return QUERN_KERNEL_ABI_VERSION; }

quern_status_t quern_primitive_get_launch_counts(const_quern_primitive_t handle, int *argumentCount, int *sizeCount,
                                                 int *functionCount) noexcept {
  const auto count = [&](const Executable *executable) -> Result<void> {
    if (argumentCount)
      *argumentCount = executable ? static_cast<int>(executable->arguments().size()) : 0;
    if (sizeCount)
      *sizeCount = executable ? static_cast<int>(executable->program().sizeCount()) : 0;
    if (functionCount)
      *functionCount = static_cast<int>(functionsOf(executable).size());
    return {};
  };
  return guarded([&] { return withExecutable(handle, count); });
}

quern_status_t quern_primitive_get_launch_argument(const_quern_primitive_t handle, int position, int *arg,
                                                   int *isOutput, int64_t *bytes) noexcept {
  const auto describe = [&](const Executable *executable) -> Result<void> {
    const size_t count = executable ? executable->arguments().size() : 0;
    if (position < 0 || static_cast<size_t>(position) >= count)
      return invalidArguments("position is ", position, "; the launch has ", count, " arguments");
    const ArtifactArgument &argument = executable->arguments()[static_cast<size_t>(position)];
    if (arg)
      *arg = argument.index;
    if (isOutput)
      *isOutput = argument.isOutput ? 1 : 0;
    if (bytes)
      *bytes = argument.bytes;
    return {};
  };
  return guarded([&] { return withExecutable(handle, describe); });
}

quern_status_t quern_primitive_get_launch_function(const_quern_primitive_t handle, int position,
                                                   quern_kernel_fn *function) noexcept {
  const auto find = [&](const Executable *executable) -> Result<void> {
    const std::vector<quern_kernel_fn> functions = functionsOf(executable);
    if (position < 0 || static_cast<size_t>(position) >= functions.size())
      return invalidArguments("position is ", position, "; the launch has ", functions.size(), " functions");
    *function = functions[static_cast<size_t>(position)];
    return {};
  };
  return guarded([&] { return withExecutable(handle, find, "function", function); });
}

quern_status_t quern_primitive_get_launch_memory(const_quern_primitive_t handle, const quern_launch_data_t *data,
                                                 size_t *scratchBytes, size_t *sharedBytes) noexcept {
  const auto measure = [&](const Executable *executable) -> Result<void> {
    *scratchBytes = *sharedBytes = 0;
    if (!executable)
      return {};
    const Result<LaunchNumbers> numbers = LaunchNumbers::of(*executable, data ? *data : noData);
    if (!numbers)
      return numbers.error();
    const Result<int64_t> shared = sharedBytesOf(*executable, *numbers);
    if (!shared)
      return shared.error();
    *scratchBytes = static_cast<size_t>(executable->scratch().perThread);
    *sharedBytes = static_cast<size_t>(*shared);
    return {};
  };
  return guarded(
      [&] { return withExecutable(handle, measure, "scratch_bytes", scratchBytes, "shared_bytes", sharedBytes); });
}

quern_status_t quern_primitive_visit_launch(const_quern_primitive_t handle, const quern_launch_data_t *data,
                                            quern_launch_visitor_t visitor, void *context) noexcept {
  const auto visit = [&](const Executable *executable) -> Result<void> {
    if (!executable)
      return {};
    const Result<LaunchNumbers> numbers = LaunchNumbers::of(*executable, *data);
    if (!numbers)
      return numbers.error();
    QUERN_RETURN_IF_ERROR(checkMemory(*executable, *numbers, *data));
    return (numbers->bound ? visitProgram : visitPlain)(*executable, *numbers, *data, visitor, context);
  };
  return guarded([&] { return withExecutable(handle, visit, "data", data, "visitor", visitor); });
}
