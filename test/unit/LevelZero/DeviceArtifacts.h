//===- DeviceArtifacts.h - Artifacts of the test kernels for a device -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Primitives whose kernels are those of kernels.ll, given to the C API as cache blobs: no compiler is needed. What they
// compute has nothing to do with the softmax or reorder that they are made for.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_LEVELZERO_DEVICEARTIFACTS_H
#define QUERN_TEST_LEVELZERO_DEVICEARTIFACTS_H

#include "Artifact/Artifact.h"
#include "Primitives/Registry.h"
#include "Support/CheckedMath.h"

#include "quern/quern.hpp"

#include <functional>
#include <string>
#include <vector>

namespace quern::test {

inline constexpr int64_t rowLength = 16; ///< of most tensors: a work-group
inline constexpr int64_t rowBytes = rowLength * 4;

/// The SPIR-V of kernels.ll.
std::string readTestSpirv();
/// "softmax …" on f32:ROWSxLENGTH; `rows` may be "?".
std::string softmaxLine(const std::string &rows, int64_t length = rowLength, const std::string &attributes = "");

/// "reorder …" of f32:ROWSxLENGTH to the same layout; `fields` say more.
std::string reorderLine(const std::string &rows, const std::string &fields);

/// What an artifact for a problem begins with: one step of `entry` over `groups` groups of `workItems`.
Artifact makeDeviceArtifact(const VerifiedProblem &problem, const Target &target, const char *entry, int64_t groups,
                            int32_t workItems = 16);

// Each of src:ROWSx16, dst the same.

/// dst = src + 1.
Artifact addOne(const VerifiedProblem &problem, const Target &target);
/// dst = src + 2 in two loops of `rows` steps, by a region; open if the rows are.
Artifact addTwoByRows(const VerifiedProblem &problem, const Target &target);
/// dst = src + rows, by the scratch that kernels share; the rows are open.
Artifact addRows(const VerifiedProblem &problem, const Target &target);

inline float plusOne(float x) { return x + 1; }
inline float plusTwo(float x) { return x + 2; }

/// What a failing call says, behind the name of its status; "" if it succeeds.
std::string messageOf(const std::function<void()> &body);

/// A primitive on an engine with tensors in its memory.
class DeviceRun {
public:
  using Maker = std::function<Artifact(const VerifiedProblem &, const Target &)>;
  /// `shape`: the line with its sizes, if it is open.
  DeviceRun(const engine &device, const std::string &line, const Maker &make, const std::string &shape = "");
  /// src[i] = first + i.
  void fill(float first = 0);
  void execute(const stream &order) { kernel.execute(order, arguments); }
  std::vector<float> result() const;
  /// Elements of dst that are not what `expected` says of src's.
  size_t wrong(const std::function<float(float)> &expected) const;
  std::vector<float> read(const memory &from) const;

  primitive_desc desc;
  primitive kernel;
  memory src, dst;
  std::unordered_map<int, memory> arguments;
};

/// The artifact as a cache blob.
std::vector<uint8_t> blobOf(const engine &device, const std::string &line, const DeviceRun::Maker &make);

} // namespace quern::test

#endif // QUERN_TEST_LEVELZERO_DEVICEARTIFACTS_H
