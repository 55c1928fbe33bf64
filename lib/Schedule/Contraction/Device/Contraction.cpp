//===- Contraction.cpp - The contraction recipe on a device --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Device/Contraction.h"

#include "Schedule/Contraction/Device/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

namespace {

struct DeviceMatch final : SingleMatch<Chain, DevicePlan, DeviceStrategy> {
  using SingleMatch::SingleMatch;
  Kernels emit() override { return {DeviceEmitter(plan).emit()}; }
};

/// Returns the reason to refuse a chain: `why`, unless it has a factor with strided columns.
std::string reasonFor(const Chain &chain, const std::string &why) {
  const bool isStrided = llvm::any_of(chain.products, [](const Product &product) { return product.isStrided(); });
  return isStrided ? stridedColumns : why;
}

/// Plans the first chain that the device can compute; without `asFallback`, only one that no other recipe computes
/// faster.
std::unique_ptr<DeviceMatch> planFirst(ArrayRef<Chain> chains, const DeviceStrategy &strategy, bool asFallback,
                                       std::string &whyNot) {
  std::string first;
  for (const Chain &chain : chains) {
    auto match = std::make_unique<DeviceMatch>(Recipe::Contraction, strategy);
    match->chain = chain;
    std::string why;
    if (succeeded(planDeviceContraction(match->plan, why)) && (asFallback || match->plan.whyFallback.empty()))
      return match;
    if (first.empty())
      first = reasonFor(chain, why.empty() ? match->plan.whyFallback : why);
  }
  whyNot = first;
  return nullptr;
}

} // namespace

MatchPtr quern::matchDeviceContraction(const Problem &problem, const DeviceStrategy &strategy, std::string &whyNot) {
  SmallVector<Chain, 2> chains;
  for (bool maySingle : {false, true}) {
    Chain chain;
    std::string why;
    const AllowedForms allowed{.strided = true, .singleColumn = maySingle, .open = true, .scalars = true};
    if ((!maySingle || mayHaveSingleColumn(problem)) && succeeded(readChain(problem, chain, allowed, why)))
      chains.push_back(std::move(chain));
    else if (!maySingle)
      whyNot = reasonFor(chain, why);
  }
  if (chains.empty())
    return nullptr;
  std::string why;
  std::unique_ptr<DeviceMatch> match = planFirst(chains, strategy, /*asFallback=*/false, why);
  if (match && fitsGroupMemory(match->plan.groupBytes(), strategy, why))
    return match;
  match = planFirst(chains, withoutGroupMemory(strategy), /*asFallback=*/true, whyNot);
  if (match)
    match->whyFallback = why;
  return match;
}
