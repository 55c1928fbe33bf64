//===- Program.h - A launch made ready to run ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Steps, loops and regions as an execution needs them: instructions to walk, and one row of numbers. A number is how
// often a loop runs, where a region begins, how many iterations a step has, or for a buffer of a step where it begins
// and how far it moves with the loops around. Numbers that depend on no size are found once, at load; those of an open
// program by each execution.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LAUNCH_PROGRAM_H
#define QUERN_RUNTIME_LAUNCH_PROGRAM_H

#include "Launch/Steps.h"

#include <span>

namespace quern {

/// Products of loop indices that the offsets of one step depend on, at most.
inline constexpr size_t maxStepProducts = 16;

class Program {
public:
  /// A product of loop indices: `count` depths from `first` on.
  struct Product {
    uint32_t first, count;
  };
  struct Step {
    const KernelStep *call;
    uint32_t iterations;   ///< a number
    uint32_t firstBuffer;  ///< into `places`
    uint32_t coefficients; ///< numbers: for each buffer its start, then what it moves by with each product
    uint32_t firstProduct, productCount;
  };
  /// Steps that are independent of each other: one space, their iterations laid end to end.
  struct Group {
    uint32_t firstStep, stepCount;
  };
  struct Instruction {
    enum Kind : uint32_t { Run, Begin, End } kind;
    uint32_t index;  ///< of the group or loop
    uint32_t target; ///< Begin: behind the loop; End: its first instruction
  };
  /// What a group is for threads.
  struct GroupSize {
    int64_t total; ///< of its space: iterations if there is one step, otherwise estimated nanoseconds
    int64_t slots; ///< into so many parts it is worth cutting
  };

  Program() = default;
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  /// `calls`, one for each step of the artifact, must outlive the program. Fails where what depends
  /// on no size makes no sense.
  Result<void> take(const Artifact &artifact, std::span<const KernelStep> calls);

  /// One step that runs once on tensors: nothing of what is here helps to run it.
  bool isPlain() const { return plain; }
  /// Whether some number depends on sizes.
  bool isOpen() const { return open; }
  /// How many threads a plain one is worth, for as many iterations as it has without its factors.
  int plainThreads() const { return threadsOfPlain; }
  /// Whether the memory that steps share depends on sizes.
  bool hasOpenRegions() const { return openRegions; }
  /// Of the regions that do not.
  int64_t knownRegionBytes() const { return knownRegions; }
  size_t numberCount() const { return numbers; }
  /// Null where sizes decide, and for a plain one.
  const int64_t *fixedNumbers() const { return fixed.empty() ? nullptr : fixed.data(); }
  /// Fills numberCount() numbers. `sizes` are the given ones, then the derived ones; `bufferBytes` are of the
  /// arguments' buffers, null if they are not known. `unimplemented` if something is beyond int64, `runtime_error` if
  /// an offset leads out of its buffer.
  Result<void> bind(const int64_t *sizes, const int64_t *bufferBytes, int64_t *bound) const;

  /// The numbers for sizes that stay the same from execution to execution: of a plain program its iterations. None if
  /// they cannot be had in advance, or are too large, which each execution then says.
  std::vector<int64_t> numbersFor(const int64_t *sizes) const;

  /// Copies the given sizes and adds the derived ones. `buffers` are those of the arguments.
  /// `invalid_arguments` if an execution of these is to be refused.
  Result<void> deriveSizes(void *const *buffers, const int64_t *given, int64_t *sizes) const;
  size_t derivedSizeCount() const { return derived.size(); }
  std::span<const DerivedSize> derivedSizes() const { return derived; }
  bool checksSizes() const { return !checks.empty(); }
  size_t sizeCount() const { return givenSizes; } ///< without the derived ones

  std::span<const Instruction> instructions() const { return code; }
  const Group &group(uint32_t index) const { return groups[index]; }
  const Step &step(uint32_t index) const { return steps[index]; }
  std::span<const Product> productsOf(const Step &step) const {
    return {products.data() + step.firstProduct, step.productCount};
  }
  /// Depths of loops.
  const uint32_t *factors() const { return productFactors.data(); }
  /// For each buffer of a step an argument's position or, behind them all, a region's.
  const uint32_t *places() const { return bufferPlaces.data(); }
  size_t argumentCount() const { return arguments.size(); }

  int64_t trips(const int64_t *bound, uint32_t loop) const { return bound[loop]; }
  /// Behind the memory that kernels share, a multiple of 64.
  int64_t regionStart(const int64_t *bound, size_t region) const { return bound[firstRegion + region]; }
  int64_t regionsEnd(const int64_t *bound) const { return bound[firstRegion + regions]; }
  GroupSize sizeOf(const int64_t *bound, uint32_t group) const {
    return {bound[firstGroup + 2 * group], bound[firstGroup + 2 * group + 1]};
  }
  /// How many threads an execution is worth, waking them included.
  int usefulThreads(const int64_t *bound) const { return static_cast<int>(bound[firstGroup + 2 * groups.size()]); }

private:
  /// Adds coefficient · the sizes' product to a number.
  struct Addend {
    uint32_t number;
    int64_t coefficient;
    std::vector<uint32_t> sizes;
  };

  void add(const Polynomial &polynomial, uint32_t number);
  Result<void> addStep(const KernelStep &call);
  Result<uint32_t> productOf(Step &step, std::span<const uint32_t> depths);
  void addInstructions(const Artifact &artifact);
  Result<void> sumUp(const int64_t *sizes, int64_t *bound) const;
  Result<void> placeRegions(int64_t *bound) const;
  Result<void> measureGroups(const int64_t *sizes, int64_t *bound) const;
  void countThreads(int64_t *bound) const;
  Result<void> checkSizes(const int64_t *sizes) const;
  int64_t bytesOf(uint32_t place, const int64_t *bufferBytes, const int64_t *bound) const;
  Result<void> checkOffsets(const int64_t *bufferBytes, const int64_t *bound) const;
  Result<void> checkStep(const Step &step, const int64_t *bufferBytes, const int64_t *bound,
                         std::span<const int64_t> trips) const;

  bool plain = true, open = false, openRegions = false;
  int threadsOfPlain = 1;
  int64_t knownRegions = 0;
  uint32_t numbers = 0, regions = 0, firstRegion = 0, firstGroup = 0, givenSizes = 0;
  std::vector<Instruction> code;
  std::vector<Group> groups;
  std::vector<Step> steps;
  std::vector<Product> products;
  std::vector<uint32_t> productFactors, bufferPlaces;
  std::vector<Addend> addends;
  std::vector<ArtifactArgument> arguments;
  std::vector<DerivedSize> derived;
  std::vector<SizeCheck> checks;
  std::vector<int64_t> fixed;
};

/// The threads that so much work is worth if they must be woken first; at least 1.
int usefulThreads(int64_t iterations, int64_t nsPerIteration);

} // namespace quern

#endif // QUERN_RUNTIME_LAUNCH_PROGRAM_H
