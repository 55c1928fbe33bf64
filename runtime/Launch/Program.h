//===- Program.h - A launch prepared for execution ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Steps, loops and regions in the form that an execution needs: instructions and an array of numbers. The numbers are
// trip counts of loops, starts of regions, iterations of steps, and for each buffer of a step its start and how far the
// surrounding loops move it. Numbers that do not depend on sizes are computed at load; those of an open program by each
// execution.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LAUNCH_PROGRAM_H
#define QUERN_RUNTIME_LAUNCH_PROGRAM_H

#include "Launch/Steps.h"

#include <span>

namespace quern {

/// Maximum number of products of loop indices that the offsets of one step depend on.
inline constexpr size_t maxStepProducts = 16;

class Program {
public:
  /// A product of loop indices: those of `count` depths in factors(), from `first` on.
  struct IndexProduct {
    uint32_t first, count;
  };
  /// A step with the places of its numbers.
  struct BoundStep {
    const KernelStep *call;
    uint32_t iterations;   ///< index of a number
    uint32_t firstBuffer;  ///< index into `places`
    uint32_t coefficients; ///< index of numbers: for each buffer its start, then a coefficient for each product
    uint32_t firstProduct, productCount;
  };
  /// Steps that may run concurrently. Their iterations are concatenated to one space.
  struct StepGroup {
    uint32_t firstStep, stepCount;
  };
  struct Instruction {
    enum Kind : uint32_t { Run, Begin, End } kind;
    uint32_t index;  ///< index of the group or loop
    uint32_t target; ///< Begin: the instruction after the loop; End: the first instruction of the loop
  };
  /// The work of a group, which is split over threads.
  struct GroupSize {
    int64_t total; ///< size of the space: iterations for a single step, otherwise estimated nanoseconds
    int64_t slots; ///< number of slots that the space is split into
  };

  Program() = default;
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  /// Builds the program of an artifact. `calls`, one for each step, must outlive the program. Fails if parts that do
  /// not depend on sizes are invalid.
  Result<void> take(const Artifact &artifact, std::span<const KernelStep> calls);

  /// Returns true for a single step that runs once on tensors, which needs neither instructions nor numbers.
  bool isPlain() const { return plain; }
  /// Returns true if any number depends on sizes.
  bool isOpen() const { return open; }
  /// Returns the number of threads that a plain program can use, for its iterations without its factors.
  int plainThreads() const { return threadsOfPlain; }
  /// Returns true if the size of a region depends on open sizes.
  bool hasOpenRegions() const { return openRegions; }
  /// Returns the bytes of the regions whose size is known.
  int64_t knownRegionBytes() const { return knownRegions; }
  size_t numberCount() const { return numbers; }
  /// Returns the numbers if they do not depend on the execution; null if the program is open or plain.
  const int64_t *fixedNumbers() const { return fixed.empty() ? nullptr : fixed.data(); }
  /// Computes numberCount() numbers. `sizes` are the open sizes, then the derived ones; `bufferBytes` are the sizes of
  /// the arguments' buffers, null if unknown. Fails with `unimplemented` if a value overflows int64, and with
  /// `runtime_error` if an offset is outside its buffer.
  Result<void> bind(const int64_t *sizes, const int64_t *bufferBytes, int64_t *bound) const;

  /// Returns the numbers of an open program for sizes that are the same for all executions. Empty if the program is not
  /// open, if the numbers cannot be computed in advance, or if they are too large, which each execution then reports.
  std::vector<int64_t> numbersFor(const int64_t *sizes) const;

  /// Copies the open sizes and adds the derived ones. `buffers` are those of the arguments. Fails with
  /// `invalid_arguments` if the sizes violate a check.
  Result<void> deriveSizes(void *const *buffers, const int64_t *given, int64_t *sizes) const;
  size_t derivedSizeCount() const { return derived.size(); }
  std::span<const DerivedSize> derivedSizes() const { return derived; }
  bool checksSizes() const { return !checks.empty(); }
  size_t sizeCount() const { return givenSizes; } ///< without the derived sizes

  std::span<const Instruction> instructions() const { return code; }
  const StepGroup &group(uint32_t index) const { return groups[index]; }
  const BoundStep &step(uint32_t index) const { return steps[index]; }
  std::span<const IndexProduct> productsOf(const BoundStep &step) const {
    return {products.data() + step.firstProduct, step.productCount};
  }
  /// Depths of loops, which products refer to.
  const uint32_t *factors() const { return productFactors.data(); }
  /// For each buffer of a step: the position of an argument, or argumentCount() plus the position of a region.
  const uint32_t *places() const { return bufferPlaces.data(); }
  size_t argumentCount() const { return arguments.size(); }

  int64_t trips(const int64_t *bound, uint32_t loop) const { return bound[loop]; }
  /// Returns the offset of a region from the start of the first one, in bytes: a multiple of 64.
  int64_t regionStart(const int64_t *bound, size_t region) const { return bound[firstRegion + region]; }
  int64_t regionsEnd(const int64_t *bound) const { return bound[firstRegion + regions]; }
  GroupSize sizeOf(const int64_t *bound, uint32_t group) const {
    return {bound[firstGroup + 2 * group], bound[firstGroup + 2 * group + 1]};
  }
  /// Returns the number of threads that an execution can use, considering the cost of waking them.
  int usefulThreads(const int64_t *bound) const { return static_cast<int>(bound[firstGroup + 2 * groups.size()]); }

private:
  /// Adds coefficient · the product of the sizes to a number.
  struct Addend {
    uint32_t number;
    int64_t coefficient;
    std::vector<uint32_t> sizes;
  };

  void add(const Polynomial &polynomial, uint32_t number);
  Result<void> addStep(const KernelStep &call);
  Result<uint32_t> productOf(BoundStep &step, std::span<const uint32_t> depths);
  void addInstructions(const Artifact &artifact);
  Result<void> sumUp(const int64_t *sizes, int64_t *bound) const;
  Result<void> placeRegions(int64_t *bound) const;
  Result<void> measureGroups(const int64_t *sizes, int64_t *bound) const;
  void countThreads(int64_t *bound) const;
  Result<void> checkSizes(const int64_t *sizes) const;
  int64_t bytesOf(uint32_t place, const int64_t *bufferBytes, const int64_t *bound) const;
  Result<void> checkOffsets(const int64_t *bufferBytes, const int64_t *bound) const;
  Result<void> checkStep(const BoundStep &step, const int64_t *bufferBytes, const int64_t *bound,
                         std::span<const int64_t> trips) const;

  bool plain = true, open = false, openRegions = false;
  int threadsOfPlain = 1;
  int64_t knownRegions = 0;
  uint32_t numbers = 0, regions = 0, firstRegion = 0, firstGroup = 0, givenSizes = 0;
  std::vector<Instruction> code;
  std::vector<StepGroup> groups;
  std::vector<BoundStep> steps;
  std::vector<IndexProduct> products;
  std::vector<uint32_t> productFactors, bufferPlaces;
  std::vector<Addend> addends;
  std::vector<ArtifactArgument> arguments;
  std::vector<DerivedSize> derived;
  std::vector<SizeCheck> checks;
  std::vector<int64_t> fixed;
};

/// Returns the number of threads for this work, considering that they must be woken; at least 1.
int usefulThreads(int64_t iterations, int64_t nsPerIteration);

} // namespace quern

#endif // QUERN_RUNTIME_LAUNCH_PROGRAM_H
