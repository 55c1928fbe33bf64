//===- ProblemData.h - The buffers of one problem -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs are filled from a seed; outputs and gaps are filled with 0xFF. Every buffer has an inaccessible page at one
// end and canaries at the other, to detect invalid reads and writes of a kernel. Used by `quern run` and the
// conformance programs, which therefore use the same data for the same seed.
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_PROBLEMDATA_H
#define QUERN_TOOLS_PROBLEMDATA_H

#include "GuardedBuffer.h"
#include "Kernel.h"
#include "Problem.h"
#include "Reference/TestData/TestData.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quern {

struct DataOptions {
  FillKind fill = FillKind::Dense;
  uint64_t seed = 1;
  bool inPlace = false;     ///< true if dst shares the buffer of src, and diff_src that of diff_dst
  int64_t misalignment = 0; ///< misalignment of every buffer, in elements of its type
  GuardedSide guarded = GuardedSide::End;
  /// True if every buffer starts at a multiple of 64 bytes, like allocated memory: for timing. Less than a cache line
  /// at its end is then unguarded.
  bool isTimed = false;
  /// Arguments whose values are set later.
  std::vector<std::string> given = {};
};

class ProblemData {
public:
  /// Allocates and fills the buffers. Fails with `invalid_arguments` if the problem is to run in place but input and
  /// output differ in type or layout, with `out_of_memory` if the tensors exceed the machine's memory, and with
  /// `unimplemented` for open sizes.
  static Result<ProblemData> create(const ParsedProblem &problem, const DataOptions &options);

  /// Returns the arguments, and the scratchpad if there is one, for Kernel::bind.
  std::map<int32_t, BoundBuffer> buffers();
  /// Moves every buffer with its contents to the other guarded side. Results of buffers() become invalid.
  void moveTo(GuardedSide side);
  /// Returns only the arguments' buffers.
  std::map<int32_t, void *> addresses();
  /// Adds a scratchpad of exactly the size that the kernel requires, if it requires one.
  Result<void> addScratchpad(const Kernel &kernel);
  /// Returns the buffer of an argument; null if the problem does not have the argument.
  void *buffer(int32_t argument);
  const TensorDesc *descOf(int32_t argument) const;
  /// Returns the argument of this name; null if the problem does not have it.
  const ArgumentInfo *find(std::string_view name) const;

  /// Refills everything: inputs from the seed or from the values of keepInputs(), the rest with 0xFF.
  void refill();
  /// Makes the present inputs those that refill() restores.
  void keepInputs();
  /// Computes the expected outputs from the present inputs. Must be called before executing in place.
  Result<void> computeExpected();
  /// Returns the worst verdict over the outputs; `judged` receives the output that it is about.
  Verdict judgeOutputs(const ReferenceOutput **judged = nullptr) const;
  /// The results of computeExpected().
  const std::vector<ReferenceOutput> &expectedOutputs() const { return expected; }
  /// Returns "", or a description of invalid writes: to canaries, inputs, gaps between the elements of outputs, or
  /// anything if there is nothing to compute; or of nonzero padding.
  std::string strayWrites() const;
  /// Returns the bytes of a buffer with this layout that an output writes: elements, padding and appended data.
  static std::vector<size_t> bytesWrittenOf(const TensorDesc &desc);
  /// Returns the bytes of all outputs, to compare executions.
  std::string outputBytes() const;

private:
  /// A buffer of the oracle of a caller's function.
  struct OracleBuffer {
    int32_t argument;
    TensorDesc desc;
    std::string bytes;
  };
  Result<void> fillNumbers();
  PrimitiveDesc withNumbers() const;
  Result<std::vector<OracleBuffer>> runOracle(bool hasErrors) const;
  Result<void> computeOracle();
  /// Kind of the bytes of one element's position.
  enum class Place : uint8_t { Gap, Element, Padding, Appended };
  /// Positions of consecutive elements, all of one kind.
  struct Run {
    Place place;
    size_t first, count;
  };
  struct Slot {
    ArgumentInfo info;
    size_t buffer;           ///< index into `storage`
    std::vector<Run> strays; ///< the gaps and the padding of an output, in memory order
    bool isRead() const { return !info.isOutput || info.isUpdated; }
  };
  /// Returns the kind of each position in the buffer.
  static std::vector<Place> placesOf(const TensorDesc &desc);
  static std::vector<Run> straysOf(const TensorDesc &desc);
  bool liesOnInput(const ArgumentInfo &info) const;
  Placement placementOf(const TensorDesc &desc) const;
  Placement scratchpadPlacement() const;
  std::string strayWritesInto(const Slot &slot) const;
  bool isUntouched(const Slot &output) const;
  bool isOverwritten(const Slot &input) const;

  const ParsedProblem *problem = nullptr;
  DataOptions options;
  std::vector<Slot> slots;
  std::vector<GuardedBuffer> storage;
  std::vector<std::string> kept; ///< contents with which `storage` is refilled; empty for outputs
  std::optional<GuardedBuffer> scratchpad;
  TensorDesc scratchpadDesc;
  std::vector<ReferenceOutput> expected;
};

} // namespace quern

#endif // QUERN_TOOLS_PROBLEMDATA_H
