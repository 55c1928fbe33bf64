//===- Contraction.cpp - The contraction recipe --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Contraction.h"

#include "Schedule/Contraction/Cpu/Emitter.h"
#include "Schedule/Contraction/Cpu/Open.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

namespace {

struct KnownMatch final : SingleMatch<Chain, ContractionPlan, ContractionStrategy> {
  using SingleMatch::SingleMatch;
  Kernels emit() override { return {emitContraction(plan)}; }
};

struct OpenMatch final : SingleMatch<Chain, OpenPlan, ContractionStrategy> {
  using SingleMatch::SingleMatch;
  Kernels emit() override { return {emitOpen(plan)}; }
};

/// Tries the forms of a product one after another. A form is read only if the problem may have it.
class ContractionMatcher {
public:
  ContractionMatcher(const Problem &problem, const ContractionStrategy &strategy)
      : problem(problem), strategy(strategy) {}
  MatchPtr run(std::string &whyNot);

private:
  bool readKnown(AllowedForms allowed, std::string &whyNot);
  std::unique_ptr<OpenMatch> readOpen() const;

  const Problem &problem;
  const ContractionStrategy &strategy;
  std::unique_ptr<KnownMatch> known; ///< result of the last call of readKnown()
  bool isRead = false;
};

/// Reads and plans the problem into `known`; only its rows may be open. Returns false with a reason if it fails.
bool ContractionMatcher::readKnown(AllowedForms allowed, std::string &whyNot) {
  known = std::make_unique<KnownMatch>(Recipe::Contraction, strategy);
  isRead = succeeded(readChain(problem, known->chain, allowed, whyNot));
  return isRead && succeeded(planContraction(known->plan, whyNot));
}

std::unique_ptr<OpenMatch> ContractionMatcher::readOpen() const {
  auto open = std::make_unique<OpenMatch>(Recipe::Contraction, strategy);
  std::string whyNot;
  const bool isSupported =
      succeeded(readChain(problem, open->chain, {.strided = true, .open = true, .panels = true}, whyNot)) &&
      succeeded(planOpen(open->plan, whyNot));
  return isSupported ? std::move(open) : nullptr;
}

MatchPtr ContractionMatcher::run(std::string &whyNot) {
  bool isSupported = readKnown({.strided = true}, whyNot);
  const bool isStrided = llvm::any_of(known->chain.products, [](const Product &p) { return p.isStrided(); });
  if (isSupported && !isStrided)
    return std::move(known);
  if (isStrided)
    whyNot = stridedColumns;
  const bool mayBeOpen = isRead || hasOpenSizes(problem);
  std::string whyNotSingle;
  if (mayHaveSingleColumn(problem))
    isSupported = readKnown({.strided = true, .singleColumn = true}, whyNotSingle);
  if (isSupported && known->plan.k.slices) // copied data need not be contiguous
    return std::move(known);
  if (std::unique_ptr<OpenMatch> open = mayBeOpen ? readOpen() : nullptr)
    return open;
  if (!isSupported)
    return nullptr;
  known->whyFallback = whyNot;
  return std::move(known);
}

} // namespace

MatchPtr quern::matchContraction(const Problem &problem, const ContractionStrategy &strategy, std::string &whyNot) {
  return ContractionMatcher(problem, strategy).run(whyNot);
}
