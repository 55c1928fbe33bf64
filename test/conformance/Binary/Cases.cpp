//===- Cases.cpp - Binary in the conformance program ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cases.h"

#include "Binary/Coverage.h"
#include "Binary/Generator.h"

namespace quern {
namespace {

using namespace cases::binary;

class BinaryCases : public PrimitiveCases {
public:
  std::string_view name() const override { return "binary"; }
  int64_t firstRound() const override { return static_cast<int64_t>(allTriples().size()); }
  int64_t allRounds() const override { return static_cast<int64_t>(allCells().size()); }
  Case draw(uint64_t seed, int64_t number) const override { return drawCase(seed, number); }
  std::span<const Mistake> mistakes() const override { return cases::binary::mistakes(); }
  std::span<const DataType> refusedTypes() const override {
    static constexpr DataType types[] = {DataType::Boolean, DataType::F4E3M0, DataType::F4E2M1,
                                         DataType::S4,      DataType::U4,     DataType::E8M0};
    return types;
  }

  void count(const Case &drawn, const PrimitiveDesc &sized, ProblemData *) override {
    coverage.add(cellOf(drawn.number), typesOf(drawn.number), std::get<BinaryDesc>(sized.op));
  }
  void print(std::ostream &os) const override { coverage.print(os); }
  std::vector<std::string> missing(int64_t cases) const override {
    if (cases >= allRounds())
      return coverage.missingCells();
    return cases >= firstRound() ? coverage.missingPairs() : std::vector<std::string>();
  }

  /// Most f64 becomes f32, because 3.2 accepts f64 but misreads it.
  void adaptToPeer(Case &drawn) const override {
    auto &op = std::get<BinaryDesc>(drawn.desc.op);
    for (TensorDesc *tensor : {&op.src, &op.src1, &op.dst})
      if (tensor->dataType == DataType::F64 && drawn.number % 8 != 0)
        tensor->dataType = DataType::F32;
    for (PostOp &post : drawn.desc.attr.postOps) // dst and the type of a sum must have the same size
      if (post.dataType == DataType::F64 && op.dst.dataType != DataType::F64)
        post.dataType = op.dst.dataType;
  }
  std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer) const override {
    return cases::binary::unsafeForPeer(desc, peer);
  }
  bool agrees(const PeerComparison &with, size_t element, double ours, double theirs) const override {
    return isSameValue(ours, theirs) || isPossible(with, element, theirs);
  }
  Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) const override {
    return cases::binary::knownDifference(with, element, ours, theirs);
  }

private:
  Coverage coverage;
};

} // namespace

std::unique_ptr<PrimitiveCases> makeBinaryCases() { return std::make_unique<BinaryCases>(); }

} // namespace quern
