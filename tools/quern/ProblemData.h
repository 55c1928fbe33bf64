//===- ProblemData.h - The buffers of one problem -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs filled from a seed, outputs and gaps filled with 0xFF, and canaries around every buffer, so that a kernel that writes where it
// must not is caught. Used by `quern run` and by the conformance programs, which therefore see the same data for the same seed.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_PROBLEMDATA_H
#define QUERN_TOOLS_PROBLEMDATA_H

#include "Primitives/TestData.h"
#include "Problem.h"

#include <map>
#include <string>
#include <vector>

namespace quern {

/// Bytes between two zones of canaries.
class GuardedBuffer {
public:
  /// `misalignment` bytes past a multiple of 64. Throws std::bad_alloc.
  GuardedBuffer(int64_t bytes, int64_t misalignment);
  char *data() { return storage.data() + start; }
  const char *data() const { return storage.data() + start; }
  int64_t size() const { return bytes; }
  bool guardsIntact() const;
  void fillAll(unsigned char value);

private:
  std::vector<char> storage;
  int64_t start, bytes;
};

struct DataOptions {
  FillKind fill = FillKind::Dense;
  uint64_t seed = 1;
  bool inPlace = false;     ///< the output shares the first input's buffer
  int64_t misalignment = 0; ///< of every buffer, in elements of its type
};

class ProblemData {
public:
  /// `invalid_arguments` if the data is to be in place and input and output differ in type or layout; `out_of_memory` if the tensors are
  /// larger than the machine's memory.
  static Result<ProblemData> create(const Problem &problem, const DataOptions &options);

  /// For Kernel::bind.
  std::map<int32_t, void *> buffers();
  /// Null for an argument that the problem does not have.
  void *buffer(int32_t argument);
  const TensorDesc *descOf(int32_t argument) const;

  /// Fills everything anew: inputs from the seed, outputs and gaps with 0xFF.
  void refill();
  /// Computes what must come out of the inputs as they are now. To be called before executing in place.
  Result<void> computeExpected();
  /// The worst verdict over the outputs.
  Verdict judgeOutputs() const;
  /// Empty, or what was written that must not be: canaries, inputs' neighbours, gaps between the elements of outputs.
  std::string strayWrites() const;
  /// The bytes of all outputs, to compare executions with.
  std::string outputBytes() const;

private:
  struct Slot {
    ArgumentInfo info;
    size_t buffer; ///< index into `storage`
  };
  bool gapsIntact(const Slot &slot) const;

  const Problem *problem = nullptr;
  DataOptions options;
  std::vector<Slot> slots;
  std::vector<GuardedBuffer> storage;
  std::vector<ReferenceOutput> expected;
};

} // namespace quern

#endif // QUERN_TOOLS_PROBLEMDATA_H
