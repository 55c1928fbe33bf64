//===- Entry.cpp - A launch as the C interface shows it ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Launch/Entry.h"

namespace quern {
namespace {

template <typename T> int32_t sizeOf(const std::vector<T> &list) { return static_cast<int32_t>(list.size()); }

} // namespace

static_assert(QUERN_ENTRY_MAX_DEPTH == maxLoopDepth, "symbols are numbered alike");

quern_entry_value_t Entry::keep(const Polynomial &polynomial) {
  if (polynomial.terms.empty())
    return {};
  std::vector<quern_entry_term_t> &own = terms.emplace_back();
  for (const Term &term : polynomial.terms) {
    const std::vector<uint32_t> &product = symbols.emplace_back(term.symbols);
    own.push_back({term.coefficient, product.data(), sizeOf(product)});
  }
  return {own.data(), sizeOf(own)};
}

quern_entry_buffer_t Entry::keep(const StepBuffer &buffer) {
  quern_entry_buffer_t kept{static_cast<int32_t>(buffer.buffer), 0, {}};
  if (std::optional<int64_t> constant = buffer.byteOffset.constant())
    kept.byte_offset = *constant;
  else
    kept.more_bytes = keep(buffer.byteOffset);
  return kept;
}

Result<void> Entry::take(const Artifact &artifact, std::span<void *const> functions) {
  for (const LaunchStep &step : artifact.steps) {
    if (step.entry >= functions.size() || step.iterations < 0)
      return runtimeError("a launch step of the artifact runs entry ", step.entry, " of ", functions.size(), " over ", step.iterations,
                          " iterations");
    quern_entry_step_t &own = stepList.emplace_back();
    own = {reinterpret_cast<quern_kernel_fn>(functions[step.entry]), step.iterations, step.nsPerIteration, nullptr, 0, step.besidePrevious};
    if (!step.factors.empty()) {
      for (std::vector<quern_entry_factor_t> &list = factors.emplace_back(); const SizeFactor &factor : step.factors)
        list.push_back({static_cast<int32_t>(factor.sizeIndex), factor.divisor});
      own.factors = factors.back().data();
      own.factor_count = sizeOf(factors.back());
    }
    if (!step.buffers.empty()) {
      for (std::vector<quern_entry_buffer_t> &list = buffers.emplace_back(); const StepBuffer &buffer : step.buffers)
        list.push_back(keep(buffer));
      own.buffers = buffers.back().data();
      own.buffer_count = sizeOf(buffers.back());
    }
  }
  for (const ArtifactArgument &argument : artifact.arguments)
    argumentList.push_back({argument.index, argument.isOutput ? 1 : 0, argument.bytes});
  for (const LaunchLoop &loop : artifact.loops)
    loopList.push_back({keep(loop.trips), static_cast<int32_t>(loop.first), static_cast<int32_t>(loop.end)});
  for (const Polynomial &bytes : artifact.regions)
    regionList.push_back(keep(bytes));
  for (const DerivedSize &size : artifact.derivedSizes)
    derivedList.push_back({static_cast<int32_t>(size.argument), keep(size.limit), keep(size.count), keep(size.stride)});
  entry = {0,
           sizeOf(stepList),
           stepList.data(),
           sizeOf(argumentList),
           argumentList.data(),
           0,
           0,
           static_cast<int32_t>(artifact.sizeCount),
           sizeOf(loopList),
           loopList.data(),
           sizeOf(regionList),
           regionList.data(),
           sizeOf(derivedList),
           derivedList.data()};
  return {};
}

} // namespace quern
