//===- TestArtifacts.h - Artifacts of the test kernels --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the fake compiler answers, also for tests that need an artifact without any compiler. The algorithm of the
// softmax chooses the kernel: accurate → scale, log → scratch, accurate_inf_as_zero → float control;
// its axis 0 → the two halves put and take; open rows → a program; all dims open → the kernel of a family.
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

/// The object file of TestKernels.c.
std::string readTestObject();
/// The same kernels for the other machine that objects are read for; empty where the compiler of the tests is not
/// clang.
std::string readForeignTestObject();
/// For a softmax with dense f32 tensors; of an RNN it copies one element of the first argument to the last.
Artifact makeTestArtifact(const VerifiedProblem &problem, const Target &target);
/// "softmax fwd_i … src=f32:ROWSx16:ab …", whose kernel computes dst[i] = (2 + i % 4) · src[i].
std::string lineOf(int64_t rows, const char *alg = "accurate");
/// The same in two steps: src → shared scratch → dst. `rows` is a multiple of 64.
std::string lineOfTwoSteps(int64_t rows);

/// The same for any number of rows, in two loops over them with a region between.
std::string lineOfOpenRows();

} // namespace quern::test

#endif // QUERN_TEST_RUNTIME_TESTARTIFACTS_H
