//===- Problem.h - One problem to be measured -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A softmax problem as every contestant understands it, whatever its own API. It travels to the contestants' processes as one line.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_PROBLEM_H
#define QUERN_BENCH_PROBLEM_H

#include <cstdint>
#include <string>
#include <vector>

namespace quern::bench {

struct Tensor {
  std::string type; ///< f32, bf16, f16 or f64
  std::vector<int64_t> strides;

  int64_t elementBytes() const;
};

struct Problem {
  std::string line;      ///< Quern's text form
  std::string algorithm; ///< softmax_accurate, softmax_log or softmax_accurate_inf_as_zero
  int axis = 0;
  std::vector<int64_t> dims;
  Tensor src, dst;

  int64_t elements() const;
  /// Bytes from the first to the last element.
  int64_t bytesOf(const Tensor &tensor) const;
  /// What has to move at least: every element read once and written once.
  int64_t trafficBytes() const { return elements() * (src.elementBytes() + dst.elementBytes()); }
  /// "narrow types", "log", "strided axis" or "last axis": the first that applies.
  std::string family() const;
  /// "f32 1024x1000", "bf16→f32 log 16x50257", "f32 1x21x512x512 axis 1"; more where the layout is not dense.
  std::string title() const;

  /// `problem <algorithm> <axis> <dims> <type> <strides> <type> <strides> <line>`.
  std::string encode() const;
  /// The inverse. Throws std::runtime_error.
  static Problem decode(const std::string &text);
};

/// The problems of a file: one line each; blank lines and what follows '#' are skipped. Throws std::runtime_error.
std::vector<std::string> readProblemFile(const std::string &path);

} // namespace quern::bench

#endif // QUERN_BENCH_PROBLEM_H
