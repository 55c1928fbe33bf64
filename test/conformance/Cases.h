//===- Cases.h - What each primitive brings to the conformance program ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A primitive is a folder beside this file: it draws random legal problems, counts what they reached, and
// lists mistakes that must be refused. Everything else (running, judging, comparing, damaging lines) is the
// same for all of them, in Suite.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_CASES_H
#define QUERN_CONFORMANCE_CASES_H

#include "Kernel.h"
#include "Primitives/Registry.h"
#include "ProblemData.h"
#include "Random.h"
#include "Reference/Reference.h"

#include <iosfwd>
#include <memory>
#include <optional>
#include <span>

namespace quern {

struct Case {
  int64_t number = 0;  ///< what the case is for follows from it
  int64_t redraws = 0; ///< of the same number, since what was drawn before was flat
  PrimitiveDesc desc;
  std::vector<int64_t> sizes; ///< of the `?` of desc.text(), as `quern run --sizes` takes them
  DataOptions data;
};

/// A line with one mistake in it. @n, @m: two small extents; @b: a number from 2 to 100; @t: one of
/// PrimitiveCases::refusedTypes().
struct Mistake {
  const char *what;
  const char *line;
  const char *constraint = ""; ///< that the message names, as "C7"; none where the line itself does not read
};

/// How an element of a peer's result compares with ours.
struct PeerComparison {
  const PrimitiveDesc &desc; ///< all sizes known
  const ReferenceOutput &exact;
  std::string_view peer, implementation;
};

/// What a peer is known to do differently, where its cause is present; `what` is empty for anything else.
struct Difference {
  std::string_view what;
  double share = 0; ///< of the compared problems that may show it: what was met in 1500 problems, and half as many more
  explicit operator bool() const { return !what.empty(); }
};

/// Equal, or NaN both.
bool isSameValue(double ours, double theirs);

class PrimitiveCases {
public:
  virtual ~PrimitiveCases() = default;
  /// What the cases run on, by which layouts are drawn that a target chooses.
  Target target = Target::host();
  /// Of the primitive.
  virtual std::string_view name() const = 0;
  /// How many cases reach every pair of properties, and how many their product.
  virtual int64_t firstRound() const = 0;
  virtual int64_t allRounds() const = 0;
  /// Case `number` of a seed: deterministic, and legal: what the library refuses of them is a failure.
  virtual Case draw(uint64_t seed, int64_t number) const = 0;
  /// The peer's results are judged by the reference, as ours are, instead of compared with ours one by one.
  virtual bool judgesPeer() const { return false; }
  /// With how many threads a case is run, one after the other.
  virtual std::span<const int> threadCounts() const { return defaultThreadCounts; }
  /// For cases that are not run and judged as the others are: what came of this one.
  virtual std::optional<Result<void>> runInstead(const Device &, const Case &) const { return std::nullopt; }
  virtual std::span<const Mistake> mistakes() const = 0;
  virtual std::span<const DataType> refusedTypes() const = 0;

  /// Counts a case that runs. `data` holds its inputs; null where they were not looked at.
  virtual void count(const Case &drawn, const PrimitiveDesc &sized, ProblemData *data) = 0;
  /// Prints the counts compactly.
  virtual void print(std::ostream &os) const = 0;
  /// One line for everything that so many cases must have reached and these have not.
  virtual std::vector<std::string> missing(int64_t cases) const = 0;

  /// Makes a drawn case one of those that peers take, where they refuse most of what is drawn.
  virtual void adaptToPeer(Case &) const {}
  /// Why the peer of this version is not asked: it is known to crash. Empty if it is.
  virtual std::string unsafeForPeer(const PrimitiveDesc &, std::string_view) const { return {}; }
  /// Whether both results of an element are right.
  virtual bool agrees(const PeerComparison &, size_t, double ours, double theirs) const {
    return isSameValue(ours, theirs);
  }
  virtual Difference knownDifference(const PeerComparison &, size_t, double, double) const { return {}; }

  /// With judgesPeer(): what the peer computes instead, where it is known, of inputs by
  /// argument; and what it is called.
  virtual std::optional<Difference> expectOfPeer(const PeerComparison &, const ReferenceInputs &,
                                                 std::vector<ReferenceOutput> &) const {
    return std::nullopt;
  }

private:
  static constexpr int defaultThreadCounts[] = {1, 2, 3, 7};
};

// One set for each primitive, in its folder, two more of reorders, one of backward RNNs and one of several primitives.
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) std::unique_ptr<PrimitiveCases> make##NAME##Cases();
#include "Desc/Primitives.def"
std::unique_ptr<PrimitiveCases> makeReorderRoundTripCases();
std::unique_ptr<PrimitiveCases> makeReorderTagCases();
std::unique_ptr<PrimitiveCases> makeRnnBackwardCases();
std::unique_ptr<PrimitiveCases> makePaddedRowsCases();

/// The sets of cases, in the order that they are run.
struct CaseSet {
  std::string_view name;
  std::unique_ptr<PrimitiveCases> (*make)();
  /// Each case is of a kind of its own, so that a part of them tells as much as it would among the others.
  bool isDivisible = false;
  bool multipliesMatrices = false;
};
inline constexpr CaseSet caseSets[] = {{"softmax", makeSoftmaxCases},
                                       {"eltwise", makeEltwiseCases},
                                       {"reorder", makeReorderCases},
                                       {"sum", makeSumCases},
                                       {"concat", makeConcatCases},
                                       {"reorder-round-trips", makeReorderRoundTripCases},
                                       {"reorder-tags", makeReorderTagCases, /*isDivisible=*/true},
                                       {"binary", makeBinaryCases},
                                       {"padded-rows", makePaddedRowsCases},
                                       {"rnn", makeRnnCases, /*isDivisible=*/false, /*multipliesMatrices=*/true},
                                       {"rnn-backward", makeRnnBackwardCases, /*isDivisible=*/false,
                                        /*multipliesMatrices=*/true},
                                       {"gemm", makeGemmCases, /*isDivisible=*/false, /*multipliesMatrices=*/true}};

/// The inputs of a case: of any kind, and one case in three begins between vectors.
void drawData(Random &random, DataOptions &data);
/// A mistake with its numbers drawn: mistakes 0 to their number less 1 have each once.
std::string drawMistake(const PrimitiveCases &cases, uint64_t seed, int64_t number);
/// A legal line with random damage to its characters: it must parse or be refused with a message.
std::string drawDamagedLine(const PrimitiveCases &cases, uint64_t seed, int64_t number);

} // namespace quern

#endif // QUERN_CONFORMANCE_CASES_H
