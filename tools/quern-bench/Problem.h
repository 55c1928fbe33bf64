//===- Problem.h - One problem to be measured -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A verified problem with what tables say of it. It travels to the contestants' processes as one line of JSON: those written in C++ read
// the text form in it, those in Python the fields beside.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_PROBLEM_H
#define QUERN_BENCH_PROBLEM_H

#include "Primitives/Registry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace quern::bench {

struct Problem {
  std::string line; ///< Quern's text form
  VerifiedProblem verified;

  /// Reads a line and verifies it for this machine. Throws std::runtime_error.
  static Problem parse(const std::string &line);

  const SoftmaxDesc &softmax() const { return std::get<SoftmaxDesc>(verified.desc.op); }
  bool isBackward() const { return !isForward(softmax().prop); }
  /// What has to move at least: every element of every tensor read or written once.
  int64_t trafficBytes() const;
  /// The first of "backward", "attributes", "layouts" (blocked, or not the same on all sides), "types" (under 32 bits), "log", "strided
  /// axis", "short axis" (up to 64) and "last axis" that applies.
  std::string family() const;
  /// "f32 1024x1000", "bf16→f32 log 16x50257", "f32 1x21x512x512 axis 1", "bwd f32 …", "… aBcd16b", "… + relu, add"; layouts where they are
  /// not dense row-major.
  std::string title() const;

  /// `problem <json>`.
  std::string encode() const;
  /// The inverse. Throws std::runtime_error.
  static Problem decode(const std::string &text);
};

/// The problems of a file: one line each; blank lines and what follows '#' are skipped. Throws std::runtime_error.
std::vector<std::string> readProblemFile(const std::string &path);

} // namespace quern::bench

#endif // QUERN_BENCH_PROBLEM_H
