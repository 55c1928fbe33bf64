//===- SourceCases.h - Common parts of sum and concat ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The cells of SourceCells, types, and the comparison with a peer's results. In oneDNN, both primitives consist of
// consecutive reorders.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SOURCECASES_H
#define QUERN_CONFORMANCE_SOURCECASES_H

#include "Cases.h"
#include "SourceCells.h"

namespace quern {

/// Cases of a primitive with any number of sources. `Desc` is its descriptor.
template <typename Desc> class SourceCases : public PrimitiveCases {
public:
  SourceCases(std::string_view primitive, std::span<const SourceFamily> families, std::span<const Mistake> illegal)
      : cells(families), primitive(primitive), illegal(illegal) {}
  std::string_view name() const override { return primitive; }
  int64_t firstRound() const override { return cells.firstRound(); }
  int64_t allRounds() const override { return cells.allRounds(); }
  std::span<const Mistake> mistakes() const override { return illegal; }
  std::span<const DataType> refusedTypes() const override {
    static constexpr DataType types[] = {DataType::Boolean, DataType::F4E3M0, DataType::F4E2M1, DataType::S4,
                                         DataType::U4};
    return types;
  }
  void count(const Case &drawn, const PrimitiveDesc &sized, ProblemData *) override {
    cells.count(drawn.number, std::get<Desc>(sized.op).dst.hasZeroDim());
  }
  void print(std::ostream &os) const override { cells.print(os); }
  std::vector<std::string> missing(int64_t cases) const override { return cells.missing(cases); }

protected:
  SourceCells cells;

private:
  std::string_view primitive;
  std::span<const Mistake> illegal;
};

namespace cases::sum {
std::string unsafeForPeer(const SumDesc &op, std::string_view peer);
Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs);
} // namespace cases::sum

namespace cases::concat {
std::string unsafeForPeer(const ConcatDesc &op);
Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs);
} // namespace cases::concat

} // namespace quern

#endif // QUERN_CONFORMANCE_SOURCECASES_H
