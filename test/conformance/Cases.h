//===- Cases.h - Cases of each primitive ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each primitive has a folder next to this file, which draws random valid problems, counts their coverage, and lists
// mistakes that must be refused. Everything else (running, judging, comparing, damaging lines) is common to all and is
// in Suite.
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
  int64_t number = 0;  ///< selects the cell
  int64_t redraws = 0; ///< number of flat draws of the same number before this one
  PrimitiveDesc desc;
  std::vector<int64_t> sizes; ///< values of the `?` of desc.text(), as for `quern run --sizes`
  DataOptions data;
};

/// A line with one mistake. @n and @m are two small extents, @b a number from 2 to 100, @t one of
/// PrimitiveCases::refusedTypes().
struct Mistake {
  const char *what;
  const char *line;
  const char *constraint = ""; ///< constraint that the message must name ("C7"); empty if the line does not parse
};

/// A problem and a peer whose results are compared element by element.
struct PeerComparison {
  const PrimitiveDesc &desc; ///< with known sizes
  const ReferenceOutput &exact;
  std::string_view peer, implementation;
};

/// A known difference of a peer whose cause is present; `what` is empty for any other difference.
struct Difference {
  std::string_view what;
  double share = 0; ///< maximum share of the compared problems: 1.5 times the share in 1500 problems
  explicit operator bool() const { return !what.empty(); }
};

/// Returns true if the values are equal or both NaN.
bool isSameValue(double ours, double theirs);

class PrimitiveCases {
public:
  virtual ~PrimitiveCases() = default;
  /// Target that the cases run on; some layouts depend on it.
  Target target = Target::host();
  /// Name of the primitive.
  virtual std::string_view name() const = 0;
  /// Number of cases that reach every pair of properties, and number that reach the product of all properties.
  virtual int64_t firstRound() const = 0;
  virtual int64_t allRounds() const = 0;
  /// Returns case `number` of a seed. Cases are deterministic and valid, so a refusal by the library is a failure.
  virtual Case draw(uint64_t seed, int64_t number) const = 0;
  /// Returns true if the reference judges the peer's results, instead of a comparison with Quern's element by element.
  virtual bool judgesPeer() const { return false; }
  /// Numbers of threads with which a case is run, one after another.
  virtual std::span<const int> threadCounts() const { return defaultThreadCounts; }
  /// Runs a special case instead of the usual execution and judgment; returns nothing for an ordinary case.
  virtual std::optional<Result<void>> runInstead(const Device &, const Case &) const { return std::nullopt; }
  virtual std::span<const Mistake> mistakes() const = 0;
  virtual std::span<const DataType> refusedTypes() const = 0;

  /// Counts a case that runs. `data` holds its inputs; null if they were not checked.
  virtual void count(const Case &drawn, const PrimitiveDesc &sized, ProblemData *data) = 0;
  /// Prints the counts compactly.
  virtual void print(std::ostream &os) const = 0;
  /// Returns one line for each property that `cases` cases must reach and these did not.
  virtual std::vector<std::string> missing(int64_t cases) const = 0;

  /// Changes a drawn case to one that peers support, if they refuse most drawn cases.
  virtual void adaptToPeer(Case &) const {}
  /// Returns the reason why a peer of this version is known to crash on the problem; empty if it is safe.
  virtual std::string unsafeForPeer(const PrimitiveDesc &, std::string_view) const { return {}; }
  /// Returns true if both results of an element are right.
  virtual bool agrees(const PeerComparison &, size_t, double ours, double theirs) const {
    return isSameValue(ours, theirs);
  }
  virtual Difference knownDifference(const PeerComparison &, size_t, double, double) const { return {}; }

  /// With judgesPeer(): returns the difference that explains the peer's results, and adds the outputs that the peer
  /// computes instead. `inputs` are by argument.
  virtual std::optional<Difference> expectOfPeer(const PeerComparison &, const ReferenceInputs &,
                                                 std::vector<ReferenceOutput> &) const {
    return std::nullopt;
  }

private:
  static constexpr int defaultThreadCounts[] = {1, 2, 3, 7};
};

// One set per primitive, in its folder; two more for reorders, one for RNN backward and one for several primitives.
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) std::unique_ptr<PrimitiveCases> make##NAME##Cases();
#include "Desc/Primitives.def"
std::unique_ptr<PrimitiveCases> makeReorderRoundTripCases();
std::unique_ptr<PrimitiveCases> makeReorderTagCases();
std::unique_ptr<PrimitiveCases> makeRnnBackwardCases();
std::unique_ptr<PrimitiveCases> makePaddedRowsCases();

/// The sets of cases, in the order of execution.
struct CaseSet {
  std::string_view name;
  std::unique_ptr<PrimitiveCases> (*make)();
  /// True if every case is of a separate kind, so that a part of the set covers as much as it would within the whole.
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

/// Draws the kind of inputs of a case; one case in three is misaligned.
void drawData(Random &random, DataOptions &data);
/// Returns a mistake with its numbers drawn; each mistake has one of the first numbers.
std::string drawMistake(const PrimitiveCases &cases, uint64_t seed, int64_t number);
/// Returns a valid line with random damage, which must parse or be refused with a message.
std::string drawDamagedLine(const PrimitiveCases &cases, uint64_t seed, int64_t number);

} // namespace quern

#endif // QUERN_CONFORMANCE_CASES_H
