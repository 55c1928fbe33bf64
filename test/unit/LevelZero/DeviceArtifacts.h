//===- DeviceArtifacts.h - Artifacts of the test kernels for a device -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Primitives that run the kernels of kernels.ll, passed to the C API as cache blobs, so no compiler is needed. The
// kernels do not compute the softmax or reorder that they are created for.
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

inline constexpr int64_t rowLength = 16; ///< row length of most tensors, in elements: one work-group
inline constexpr int64_t rowBytes = rowLength * 4;

/// Returns the SPIR-V of kernels.ll.
std::string readTestSpirv();
/// Returns "softmax …" on f32:ROWSxLENGTH; `rows` may be "?".
std::string softmaxLine(const std::string &rows, int64_t length = rowLength, const std::string &attributes = "");

/// Returns "reorder …" of f32:ROWSxLENGTH to the same layout, followed by `fields`.
std::string reorderLine(const std::string &rows, const std::string &fields);

/// Returns an artifact with one step of `entry` over `groups` groups of `workItems`, which callers may extend.
Artifact makeDeviceArtifact(const VerifiedProblem &problem, const Target &target, const char *entry, int64_t groups,
                            int32_t workItems = 16);

// src and dst of the following artifacts are ROWSx16.

/// Computes dst = src + 1.
Artifact addOne(const VerifiedProblem &problem, const Target &target);
/// Computes dst = src + 2 in two loops of `rows` steps, through a region; the program is open if the rows are.
Artifact addTwoByRows(const VerifiedProblem &problem, const Target &target);
/// Computes dst = src + rows through the scratch that kernels share; the rows are open.
Artifact addRows(const VerifiedProblem &problem, const Target &target);

inline float plusOne(float x) { return x + 1; }
inline float plusTwo(float x) { return x + 2; }

/// Returns the message of a failing call, after the name of its status; "" if the call succeeds.
std::string messageOf(const std::function<void()> &body);

/// A primitive on an engine, with tensors in the engine's memory.
class DeviceRun {
public:
  using Maker = std::function<Artifact(const VerifiedProblem &, const Target &)>;
  /// `shape`: the line with its sizes, if `line` has open sizes.
  DeviceRun(const engine &device, const std::string &line, const Maker &make, const std::string &shape = "");
  /// Sets src[i] = first + i.
  void fill(float first = 0);
  void execute(const stream &order) { kernel.execute(order, arguments); }
  std::vector<float> result() const;
  /// Returns the number of elements of dst that are not `expected` of the corresponding element of src.
  size_t wrong(const std::function<float(float)> &expected) const;
  std::vector<float> read(const memory &from) const;

  primitive_desc desc;
  primitive kernel;
  memory src, dst;
  std::unordered_map<int, memory> arguments;
};

/// Returns the artifact as a cache blob.
std::vector<uint8_t> blobOf(const engine &device, const std::string &line, const DeviceRun::Maker &make);

} // namespace quern::test

#endif // QUERN_TEST_LEVELZERO_DEVICEARTIFACTS_H
