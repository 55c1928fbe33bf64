//===- ProgramRun.cpp - Running a launch ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Launch/ProgramRun.h"

#include "Launch/Steps.h"

namespace quern {
namespace {

constexpr int64_t nsWorthACall = 300; // minimum duration of an iteration for a separate call

} // namespace

void *const *ProgramRun::buffersOf(const Program::BoundStep &step, const int64_t *indices, void **named) const {
  const KernelStep &call = *step.call;
  if (call.buffers.empty())
    return buffers;
  int64_t products[maxStepProducts];
  size_t count = 0;
  for (const Program::IndexProduct &product : program.productsOf(step)) {
    const uint32_t *depths = program.factors() + product.first;
    int64_t value = indices[depths[0]];
    for (uint32_t i = 1; i < product.count; ++i)
      value *= indices[depths[i]];
    products[count++] = value;
  }
  const int64_t *coefficient = bound + step.coefficients;
  const uint32_t *places = program.places() + step.firstBuffer;
  const size_t arguments = program.argumentCount();
  for (size_t b = 0; b < call.buffers.size(); ++b) {
    int64_t offset = *coefficient++; // bind() has checked that no sum overflows
    for (size_t p = 0; p < count; ++p)
      offset += *coefficient++ * products[p];
    char *start = places[b] < arguments ? static_cast<char *>(buffers[places[b]])
                                        : regions + program.regionStart(bound, places[b] - arguments);
    named[b] = start + offset;
  }
  return named;
}

void ProgramRun::callStep(const Program::BoundStep &step, const int64_t *indices, void *scratch, bool isBackward,
                          int64_t begin, int64_t end) const {
  if (begin >= end)
    return;
  void *named[maxStepBuffers];
  const quern_kernel_args_t arguments = {buffersOf(step, indices, named), scratch, shared, sizes};
  if (!isBackward || step.call->nsPerIteration < nsWorthACall)
    return invoke(*step.call, arguments, begin, end);
  for (int64_t i = end; i-- > begin;)
    invoke(*step.call, arguments, i, i + 1);
}

void ProgramRun::runGroup(uint32_t group, const int64_t *indices, void *scratch, bool isBackward, int64_t low,
                          int64_t high) const {
  const Program::StepGroup &steps = program.group(group);
  if (steps.stepCount == 1)
    return callStep(program.step(steps.firstStep), indices, scratch, isBackward, low, high);
  int64_t start = 0; // start of each step in the group's space
  for (uint32_t i = 0; i < steps.stepCount && start < high; ++i) {
    const Program::BoundStep &step = program.step(steps.firstStep + i);
    const int64_t weight = std::max<int64_t>(1, step.call->nsPerIteration), length = bound[step.iterations] * weight;
    const auto firstFrom = [&](int64_t place) {
      return ceilDivide(std::clamp<int64_t>(place - start, 0, length), weight);
    };
    if (low <= start && start + length <= high) // avoids a division, whose cost matters for short steps
      callStep(step, indices, scratch, isBackward, 0, bound[step.iterations]);
    else
      callStep(step, indices, scratch, isBackward, firstFrom(low), firstFrom(high));
    start += length;
  }
}

} // namespace quern
