//===- ProblemData.h - The buffers of one problem -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs filled from a seed, outputs and gaps filled with 0xFF, and an inaccessible page at one end of every buffer and
// canaries at the other, so that a kernel that reads or writes where it must not is caught. Used by `quern run` and by
// the conformance programs, which therefore see the same data for the same seed.
//
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
  bool inPlace = false;     ///< the output shares its input's buffer: dst that of src, diff_src that of diff_dst
  int64_t misalignment = 0; ///< of every buffer, in elements of its type
  GuardedSide guarded = GuardedSide::End;
  /// Every buffer begins at a multiple of 64 bytes, as those that allocators give: for timing. At the end less
  /// than a line is unguarded.
  bool isTimed = false;
  /// The arguments whose values come later.
  std::vector<std::string> given = {};
};

class ProblemData {
public:
  /// `invalid_arguments` if the data is to be in place and input and output differ in type or layout; `out_of_memory`
  /// if the tensors are larger than the machine's memory; `unimplemented` for sizes that are known only at execution.
  static Result<ProblemData> create(const Problem &problem, const DataOptions &options);

  /// For Kernel::bind: the arguments, and the scratchpad if there is one.
  std::map<int32_t, BoundBuffer> buffers();
  /// Moves every buffer, as it is, to where its guarded side is this one; what buffers() gave is void then.
  void moveTo(GuardedSide side);
  /// The arguments' buffers alone.
  std::map<int32_t, void *> addresses();
  /// Gives the kernel a scratchpad of exactly what it asks for, if it does.
  Result<void> addScratchpad(const Kernel &kernel);
  /// Null for an argument that the problem does not have.
  void *buffer(int32_t argument);
  const TensorDesc *descOf(int32_t argument) const;
  /// Null if the problem has none of this name.
  const ArgumentInfo *find(std::string_view name) const;

  /// Fills everything anew: inputs from the seed or from where keepInputs() found them, the rest with 0xFF.
  void refill();
  /// Makes the inputs as they are now those that refill() restores.
  void keepInputs();
  /// Computes what must come out of the inputs as they are now. To be called before executing in place.
  Result<void> computeExpected();
  /// The worst verdict over the outputs; `judged` is the one that it is about.
  Verdict judgeOutputs(const ReferenceOutput **judged = nullptr) const;
  /// What computeExpected() found.
  const std::vector<ReferenceOutput> &expectedOutputs() const { return expected; }
  /// Empty, or what was written that must not be (canaries, inputs, gaps between the elements of outputs, anything
  /// where there is nothing to compute), or padding that is not zero.
  std::string strayWrites() const;
  /// The bytes of a buffer of this layout that an output writes: of its elements, its padding and what is appended.
  static std::vector<size_t> bytesWrittenOf(const TensorDesc &desc);
  /// The bytes of all outputs, to compare executions with.
  std::string outputBytes() const;

private:
  /// Of an oracle of a caller's function.
  struct OracleBuffer {
    int32_t argument;
    TensorDesc desc;
    std::string bytes;
  };
  Result<void> fillNumbers();
  PrimitiveDesc withNumbers() const;
  Result<std::vector<OracleBuffer>> runOracle(bool hasErrors) const;
  Result<void> computeOracle();
  /// What the room for one element holds.
  enum class Place : uint8_t { Gap, Element, Padding, Appended };
  /// Room for neighbouring elements, all of one kind.
  struct Run {
    Place place;
    size_t first, count;
  };
  struct Slot {
    ArgumentInfo info;
    size_t buffer;           ///< index into `storage`
    std::vector<Run> strays; ///< the gaps and the padding of an output, in the order of its buffer
    bool isRead() const { return !info.isOutput || info.isUpdated; }
  };
  /// By position in the buffer.
  static std::vector<Place> placesOf(const TensorDesc &desc);
  static std::vector<Run> straysOf(const TensorDesc &desc);
  bool liesOnInput(const ArgumentInfo &info) const;
  Placement placementOf(const TensorDesc &desc) const;
  Placement scratchpadPlacement() const;
  std::string strayWritesInto(const Slot &slot) const;
  bool isUntouched(const Slot &output) const;
  bool isOverwritten(const Slot &input) const;

  const Problem *problem = nullptr;
  DataOptions options;
  std::vector<Slot> slots;
  std::vector<GuardedBuffer> storage;
  std::vector<std::string> kept; ///< what `storage` is refilled with; empty for outputs
  std::optional<GuardedBuffer> scratchpad;
  TensorDesc scratchpadDesc;
  std::vector<ReferenceOutput> expected;
};

} // namespace quern

#endif // QUERN_TOOLS_PROBLEMDATA_H
