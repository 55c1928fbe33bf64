//===- Program.h - The launch program of a kernel -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A launch is data: steps in order, loops around ranges of them, and memory through which steps pass values. Each
// quantity that an execution determines (the trip count of a loop, the offset of a step in a tensor) is a polynomial of
// the execution's sizes and of the indices of the surrounding loops.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_ARTIFACT_PROGRAM_H
#define QUERN_ARTIFACT_PROGRAM_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quern {

/// No real launch approaches these limits; they bound the resources that a hostile file can make its reader use.
inline constexpr uint32_t maxStepBuffers = 64, maxLoopDepth = 8, maxLoops = 4096, maxRegions = 256,
                          maxDerivedSizes = 128, maxChecks = 1024, maxTerms = 64, maxTermSymbols = 8;

/// coefficient · the product of symbols. Symbol i < maxLoopDepth is the index of the surrounding loop at depth i, where
/// 0 is the outermost; any other symbol is size i - maxLoopDepth of the execution.
struct Term {
  int64_t coefficient = 0;
  std::vector<uint32_t> symbols; ///< ascending
  bool operator==(const Term &) const = default;
};

inline constexpr uint32_t symbolOfSize(uint32_t size) { return maxLoopDepth + size; }

/// A sum of terms with different symbols; 0 if there are no terms.
struct Polynomial {
  Polynomial() = default;
  Polynomial(int64_t constant) {
    if (constant)
      terms.push_back({constant, {}});
  }
  /// Returns the value if the polynomial depends on no symbol.
  std::optional<int64_t> constant() const;
  bool dependsOnSizes() const;
  /// Returns a text such as "4096*s0 - 64*d1 + 8": d is a loop index, s a size.
  std::string text() const;
  bool operator==(const Polynomial &) const = default;

  std::vector<Term> terms;
};

/// The range of a symbol, both ends included.
struct SymbolRange {
  int64_t low = 0, high = 0;
};
/// Returns a range that contains all values of a polynomial whose symbol i is in `symbols[i]`; `symbols` must have all
/// symbols of the polynomial. Returns nothing if a bound exceeds int64.
std::optional<SymbolRange> rangeOf(const Polynomial &polynomial, std::span<const SymbolRange> symbols);

/// Multiplies the iterations of a step by sizes[sizeIndex] / divisor, rounded up. The size is known only at execution.
struct SizeFactor {
  uint32_t sizeIndex = 0; ///< index in `quern_kernel_args::sizes`
  int64_t divisor = 1;
};

/// A buffer that a step passes, starting at `byteOffset`.
struct StepBuffer {
  uint32_t buffer = 0; ///< position of an argument, or the number of arguments plus the index of a region
  Polynomial byteOffset;
};

/// Runs `entry` over [0, iterations · factors), whose iterations are independent. Steps run in order, each after the
/// previous one has finished, unless it is marked as independent of it.
struct LaunchStep {
  uint32_t entry = 0; ///< index into `entries`
  int64_t iterations = 0;
  /// Estimate in ns on one core; 0: unknown. The runtime limits the number of threads by the amount of work.
  int64_t nsPerIteration = 0;
  std::vector<SizeFactor> factors;
  std::vector<StepBuffer> buffers{};  ///< the entry's buffers; empty: the buffers of all arguments
  bool independentOfPrevious = false; ///< true if the step may run concurrently with the previous one
};

/// Runs steps [first, end) `trips` times; never if that is negative. A loop is listed before those that it contains;
/// the loops listed after these start at its end or later.
struct LaunchLoop {
  Polynomial trips; ///< depends on sizes only
  uint32_t first = 0, end = 0;
};

/// A size that an execution derives; it follows the sizes that are passed. Its polynomials depend on those and on
/// earlier derived sizes.
struct DerivedSize {
  enum class Kind : uint32_t {
    Maximum, ///< the maximum of `count` s32 elements of an argument, `stride` elements apart, clamped to [0, limit]
    Number,  ///< the value of an argument that has one s32 element
    Computed ///< `value`
  };
  uint32_t argument = 0; ///< index in `arguments`; 0 if computed
  Polynomial limit, count, stride;
  Kind kind = Kind::Maximum;
  Polynomial value;
};

/// Rejects an execution unless low <= value <= high. All three are polynomials of the passed and derived sizes.
struct SizeCheck {
  std::string what; ///< name of the value, for the message
  Polynomial value, low, high;
};

} // namespace quern

#endif // QUERN_ARTIFACT_PROGRAM_H
