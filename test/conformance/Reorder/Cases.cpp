//===- Cases.cpp - Reorder in the conformance program ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cases.h"

#include "Reorder/Coverage.h"
#include "Reorder/Generator.h"

#include <cmath>

namespace quern {
namespace {

using namespace cases::reorder;

class ReorderCases : public PrimitiveCases {
public:
  std::string_view name() const override { return "reorder"; }
  int64_t firstRound() const override { return cellsOfFirstRound(); }
  int64_t allRounds() const override { return static_cast<int64_t>(allCells().size()); }
  Case draw(uint64_t seed, int64_t number) const override {
    Case drawn = drawCase(seed, number);
    if (!target.isCpu())
      drawEngines(seed, drawn);
    return drawn;
  }
  std::span<const Mistake> mistakes() const override { return cases::reorder::mistakes(); }
  std::span<const DataType> refusedTypes() const override {
    static constexpr DataType types[] = {DataType::Boolean, DataType::F4E3M0};
    return types;
  }

  void count(const Case &drawn, const PrimitiveDesc &sized, ProblemData *) override {
    coverage.add(cellOf(drawn.number), std::get<ReorderDesc>(sized.op));
  }
  void print(std::ostream &os) const override { coverage.print(os); }
  std::vector<std::string> missing(int64_t cases) const override {
    if (cases >= allRounds())
      return coverage.missingCells();
    return cases >= firstRound() ? coverage.missingPairs(!target.isCpu()) : std::vector<std::string>();
  }

  void adaptToPeer(Case &drawn) const override { cases::reorder::adaptToPeer(drawn); }
  std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer) const override {
    return cases::reorder::unsafeForPeer(desc, peer);
  }
  Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) const override {
    return cases::reorder::knownDifference(with, element, ours, theirs);
  }

private:
  Coverage coverage;
};

} // namespace

std::unique_ptr<PrimitiveCases> makeReorderCases() { return std::make_unique<ReorderCases>(); }

} // namespace quern
