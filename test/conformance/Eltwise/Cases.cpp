//===- Cases.cpp - Eltwise in the conformance program ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cases.h"

#include "Eltwise/Coverage.h"
#include "Eltwise/Generator.h"
#include "Reference/Elements.h"
#include "Reference/Judge.h"

#include <algorithm>
#include <cmath>

namespace quern {
namespace {

using namespace cases::eltwise;

/// oneDNN's vector code has errors of more than a few ulps: its own tests allow 4e-6 relative and 2e-5 absolute.
bool isNear(const PeerComparison &with, size_t i, double ours, double theirs) {
  if (isSameValue(ours, theirs))
    return true;
  const DataType type = with.exact.desc.dataType;
  const double size = with.exact.magnitude.empty() ? 0 : with.exact.magnitude[i];
  double step = 4e-6 * std::max(std::fabs(ours), size) + 2e-5;
  if (type != DataType::F32 && type != DataType::F64)
    step += isFloating(type) ? epsilonOf(type) * std::max(std::fabs(ours), 0x1p-14) : 1;
  double low = ours, high = ours;
  if (with.exact.range) { // with post-ops or at a discontinuity
    const double start = with.exact.beforeAttributes[i];
    Interval range =
        with.exact.range(static_cast<int64_t>(i), Interval::around(start, 1e-5 * std::max(std::fabs(start), 1.0)));
    if (std::isnan(theirs) || range.isEmpty())
      return range.mayBeNan;
    low = std::min(low, static_cast<double>(range.low)), high = std::max(high, static_cast<double>(range.high));
  }
  return low - step <= theirs && theirs <= high + step;
}

class EltwiseCases : public PrimitiveCases {
public:
  std::string_view name() const override { return "eltwise"; }
  int64_t firstRound() const override { return cellsOfFirstRound(); }
  int64_t allRounds() const override { return static_cast<int64_t>(allCells().size()); }
  Case draw(uint64_t seed, int64_t number) const override { return drawCase(seed, number); }
  std::span<const Mistake> mistakes() const override { return cases::eltwise::mistakes(); }
  std::span<const DataType> refusedTypes() const override {
    static constexpr DataType types[] = {DataType::S4, DataType::U4, DataType::Boolean, DataType::E8M0,
                                         DataType::F4E2M1};
    return types;
  }

  void count(const Case &drawn, const PrimitiveDesc &sized, ProblemData *) override {
    const EltwiseDesc &op = std::get<EltwiseDesc>(sized.op);
    coverage.add(cellOf(drawn.number), isForward(op.prop) ? op.dst : op.diffSrc);
  }
  void print(std::ostream &os) const override { coverage.print(os); }
  std::vector<std::string> missing(int64_t cases) const override {
    if (cases >= allRounds())
      return coverage.missingCells();
    return cases >= firstRound() ? coverage.missingPairs() : std::vector<std::string>();
  }

  void adaptToPeer(Case &drawn) const override { cases::eltwise::adaptToPeer(drawn); }
  std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer) const override {
    return cases::eltwise::unsafeForPeer(desc, peer);
  }
  bool agrees(const PeerComparison &with, size_t element, double ours, double theirs) const override {
    return isNear(with, element, ours, theirs);
  }
  Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) const override {
    return cases::eltwise::knownDifference(with, element, ours, theirs);
  }

private:
  Coverage coverage;
};

} // namespace

std::unique_ptr<PrimitiveCases> makeEltwiseCases() { return std::make_unique<EltwiseCases>(); }

} // namespace quern
