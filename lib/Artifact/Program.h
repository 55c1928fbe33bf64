//===- Program.h - What a kernel's launch consists of ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A launch is data: steps in order, loops around ranges of them, and memory that steps pass values on in. Whatever an
// execution decides (how often a loop runs, where in a tensor a step begins) is a polynomial of its sizes and of the
// indices of the loops around.
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

/// No launch comes near these limits; they bound what a hostile file makes its reader do.
inline constexpr uint32_t maxStepBuffers = 64, maxLoopDepth = 8, maxLoops = 4096, maxRegions = 256,
                          maxDerivedSizes = 128, maxChecks = 1024, maxTerms = 64, maxTermSymbols = 8;

/// coefficient · the product of symbols. Symbol i < maxLoopDepth is the index of the loop at depth i around a step,
/// from the outermost, 0; any other is size i - maxLoopDepth of the execution.
struct Term {
  int64_t coefficient = 0;
  std::vector<uint32_t> symbols; ///< ascending
  bool operator==(const Term &) const = default;
};

inline constexpr uint32_t symbolOfSize(uint32_t size) { return maxLoopDepth + size; }

/// A sum of terms with different symbols; without terms, 0.
struct Polynomial {
  Polynomial() = default;
  Polynomial(int64_t constant) {
    if (constant)
      terms.push_back({constant, {}});
  }
  /// Its value if it depends on no symbol.
  std::optional<int64_t> constant() const;
  bool dependsOnSizes() const;
  /// "4096*s0 - 64*d1 + 8": d is the index of a loop, s a size.
  std::string text() const;
  bool operator==(const Polynomial &) const = default;

  std::vector<Term> terms;
};

/// What a symbol may be, the ends included.
struct SymbolRange {
  int64_t low = 0, high = 0;
};
/// What a polynomial may be if symbol i is in `symbols[i]`, which has at least those that it depends on;
/// nothing if that is beyond int64.
std::optional<SymbolRange> rangeOf(const Polynomial &polynomial, std::span<const SymbolRange> symbols);

/// Multiplies the iterations of a step by sizes[sizeIndex] / divisor, rounded up, where the sizes
/// are known at execution only.
struct SizeFactor {
  uint32_t sizeIndex = 0; ///< into `quern_kernel_args::sizes`
  int64_t divisor = 1;
};

/// A buffer that a step passes, from `byteOffset` on.
struct StepBuffer {
  uint32_t buffer = 0; ///< an argument's position, or behind all arguments a region's
  Polynomial byteOffset;
};

/// Runs `entry` over [0, iterations · factors): the iterations are independent. Steps run in order, each after all of
/// the one before, unless they are marked as independent of it.
struct LaunchStep {
  uint32_t entry = 0; ///< index into `entries`
  int64_t iterations = 0;
  /// Estimate on one core; 0: unknown. The runtime uses no more threads than the work is worth.
  int64_t nsPerIteration = 0;
  std::vector<SizeFactor> factors;
  std::vector<StepBuffer> buffers{}; ///< what the entry gets; empty: the buffers of all arguments
  bool besidePrevious = false;       ///< the two may run at once
};

/// Runs steps [first, end) `trips` times, never if that is negative. A loop comes before those that are in it; other
/// loops begin where it has ended.
struct LaunchLoop {
  Polynomial trips; ///< of sizes
  uint32_t first = 0, end = 0;
};

/// A size that an execution finds behind those it is given. Polynomials are of the given sizes and of derived ones
/// before it.
struct DerivedSize {
  enum class Kind : uint32_t {
    Maximum, ///< the greatest of `count` s32 elements of an argument, `stride` elements apart, but in [0, limit]
    Number,  ///< the s32 element that an argument has
    Computed ///< `value`
  };
  uint32_t argument = 0; ///< index into `arguments`; of a computed one 0
  Polynomial limit, count, stride;
  Kind kind = Kind::Maximum;
  Polynomial value;
};

/// An execution is refused unless low <= value <= high, polynomials of all sizes.
struct SizeCheck {
  std::string what; ///< that the value is, for the message
  Polynomial value, low, high;
};

} // namespace quern

#endif // QUERN_ARTIFACT_PROGRAM_H
