//===- TestArtifacts.h - Artifacts of the test kernels --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Results of the fake compiler, also for tests that need an artifact without a compiler. The softmax problem selects
// the kernel: alg accurate → scale, log → scratch, accurate_inf_as_zero → float control; axis 0 → put and take in two
// steps; open rows → a program; all dims open → the kernel of a family.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RUNTIME_TESTARTIFACTS_H
#define QUERN_TEST_RUNTIME_TESTARTIFACTS_H

#include "Artifact/Artifact.h"
#include "Desc/Key.h"
#include "Primitives/Registry.h"

#include <string>

namespace quern::test {

inline constexpr int64_t scratchBytes = 1000; ///< not a multiple of the alignment

/// Returns the object file of TestKernels.c.
std::string readTestObject();
/// Returns the same kernels for the other machine that the loader reads; empty if the tests are not built with clang.
std::string readForeignTestObject();
/// Returns the artifact of a softmax on dense f32 tensors, or of an RNN, which copies one element.
Artifact makeTestArtifact(const VerifiedProblem &problem, const Target &target);
/// Returns "softmax fwd_i … src=f32:ROWSx16:ab …", whose kernel computes dst[i] = (2 + i % 4) · src[i].
std::string lineOf(int64_t rows, const char *alg = "accurate");
/// The same computation in two steps: src → shared scratch → dst. `rows` is a multiple of 64.
std::string lineOfTwoSteps(int64_t rows);

/// The same computation for an open number of rows, in two loops over rows with a region between them.
std::string lineOfOpenRows();

} // namespace quern::test

#endif // QUERN_TEST_RUNTIME_TESTARTIFACTS_H
