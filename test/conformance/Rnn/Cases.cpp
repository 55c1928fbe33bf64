//===- Cases.cpp - RNN in the conformance program -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With --peer, the reference judges the results of an installed oneDNN.
//
//===----------------------------------------------------------------------===//
#include "Cases.h"

#include "PeerDifferences.h"
#include "Rnn/Coverage.h"
#include "Rnn/Generator.h"

namespace quern {
namespace {

using namespace cases::rnn;

std::string crashOfPeer(const PrimitiveDesc &desc) {
  return std::get<Boxed<RnnDesc>>(desc.op)->srcLayer.hasZeroDim() ? "crashes if a dim is 0" : "";
}

/// Returns why the peer's backward is unsafe: a gru with few channels, in 3.13 occasionally with any type.
std::string misreadingOfPeer(const PrimitiveDesc &desc, std::string_view peer) {
  const RnnDesc &op = *std::get<Boxed<RnnDesc>>(desc.op);
  const bool isGru = op.cell != Alg::VanillaRnn && op.cell != Alg::VanillaLstm;
  const int64_t states = op.weightsIter.dims[2];
  constexpr int64_t fewOfOld = 2, fewOfNew = 7;
  if (isGru && isOldPeer(peer) && states <= fewOfOld && op.srcLayer.dataType == DataType::BF16)
    return "crashes or misreads bf16 states in a GRU with one or two channels";
  if (isGru && !isOldPeer(peer) && states <= fewOfNew)
    return "occasionally crashes or reads uninitialized memory in a GRU with up to seven channels";
  return crashOfPeer(desc);
}

class RnnCases : public PrimitiveCases {
public:
  std::string_view name() const override { return "rnn"; }
  int64_t firstRound() const override { return cellsOfARound(Pass::Forward) * optionSets; }
  int64_t allRounds() const override { return cellsOfARound(Pass::Forward) * roundsOfAll * 3; }
  bool judgesPeer() const override { return true; }
  void adaptToPeer(Case &drawn) const override { cases::rnn::adaptToPeer(drawn); }
  Case draw(uint64_t seed, int64_t number) const override { return drawCase(seed, number, target); }
  std::span<const Mistake> mistakes() const override { return cases::rnn::mistakes(); }
  std::span<const DataType> refusedTypes() const override {
    static constexpr DataType types[] = {DataType::F64, DataType::S32, DataType::F8E5M2, DataType::S4};
    return types;
  }

  void count(const Case &drawn, const PrimitiveDesc &sized, ProblemData *) override {
    coverage.add(cellOf(Pass::Forward, drawn.number), sized);
  }
  void print(std::ostream &os) const override { coverage.print(os); }
  std::vector<std::string> missing(int64_t cases) const override {
    if (cases >= allRounds())
      return coverage.missingCells();
    return cases >= firstRound() ? coverage.missingPairs() : std::vector<std::string>();
  }

  std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view) const override { return crashOfPeer(desc); }
  bool agrees(const PeerComparison &, size_t, double, double) const override { return false; }
  Difference knownDifference(const PeerComparison &with, size_t, double, double) const override {
    return cases::rnn::knownDifference(with);
  }
  std::optional<Difference> expectOfPeer(const PeerComparison &with, const ReferenceInputs &inputs,
                                         std::vector<ReferenceOutput> &theirs) const override {
    return cases::rnn::expectOfPeer(with, inputs, theirs);
  }

private:
  Coverage coverage{Pass::Forward};
};

/// Gradients with workspaces that the reference of forward computes; a peer's forward computes its own.
class RnnBackwardCases : public PrimitiveCases {
public:
  std::string_view name() const override { return "rnn"; }
  int64_t firstRound() const override { return cellsOfARound(Pass::Backward) * optionSets; }
  int64_t allRounds() const override { return cellsOfARound(Pass::Backward) * roundsOfAll * 4; }
  Case draw(uint64_t seed, int64_t number) const override { return drawCase(seed, number, target, Pass::Backward); }
  std::span<const Mistake> mistakes() const override { return mistakesOfBackward(); }
  std::span<const DataType> refusedTypes() const override {
    static constexpr DataType types[] = {DataType::F64, DataType::S32, DataType::F8E5M2, DataType::S4};
    return types;
  }

  void count(const Case &drawn, const PrimitiveDesc &sized, ProblemData *) override {
    coverage.add(cellOf(Pass::Backward, drawn.number), sized);
  }
  void print(std::ostream &os) const override { coverage.print(os); }
  std::vector<std::string> missing(int64_t cases) const override {
    if (cases >= allRounds())
      return coverage.missingCells();
    return cases >= firstRound() ? coverage.missingPairs() : std::vector<std::string>();
  }

  bool judgesPeer() const override { return true; }
  void adaptToPeer(Case &drawn) const override { cases::rnn::adaptToPeer(drawn); }
  std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer) const override {
    return misreadingOfPeer(desc, peer);
  }
  bool agrees(const PeerComparison &, size_t, double, double) const override { return false; }
  Difference knownDifference(const PeerComparison &with, size_t, double, double) const override {
    return knownDifferenceOfGradients(with);
  }
  std::optional<Difference> expectOfPeer(const PeerComparison &with, const ReferenceInputs &inputs,
                                         std::vector<ReferenceOutput> &theirs) const override {
    return expectGradientsOfPeer(with, inputs, theirs);
  }

private:
  Coverage coverage{Pass::Backward};
};

} // namespace

std::unique_ptr<PrimitiveCases> makeRnnCases() { return std::make_unique<RnnCases>(); }
std::unique_ptr<PrimitiveCases> makeRnnBackwardCases() { return std::make_unique<RnnBackwardCases>(); }

} // namespace quern
