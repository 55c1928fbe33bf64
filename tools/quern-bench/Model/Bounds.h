//===- Bounds.h - Handwritten loops as bounds -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// `bounds/loops.desc` lists the loops as `NAME | STEP | PROBLEM`. The compared loop of a problem is the loop of STEP
// that reads the most bytes per iteration. `bounds/LEVEL/NAME.s` is the handwritten loop for a level and for higher
// levels without a file. Its comment has `reads: N vectors` or `multiplies: N flops` per iteration, and the reason why
// no loop can be faster.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_MODEL_BOUNDS_H
#define QUERN_BENCH_MODEL_BOUNDS_H

#include <optional>
#include <string>
#include <vector>

namespace quern::bench {

struct BoundedLoop {
  std::string name, step, line;
};

class Bounds {
public:
  /// `mca` is the path of llvm-mca.
  Bounds(std::string folder, std::string mca) : folder(std::move(folder)), mca(std::move(mca)) {}

  /// Returns the loops of loops.desc. Throws std::runtime_error.
  std::vector<BoundedLoop> loops() const;
  /// Returns the cycles per byte read, or per flop if the loop multiplies; nothing if the level has no such loop or the
  /// processor lacks its instructions. Throws std::runtime_error if llvm-mca does not run.
  std::optional<double> cyclesPerUnit(const std::string &name, const std::string &target,
                                      const std::string &processor) const;

private:
  std::string fileFor(const std::string &name, const std::string &target) const;
  std::optional<double> cyclesOf(const std::string &file, const std::string &processor) const;
  std::string folder, mca;
};

} // namespace quern::bench

#endif // QUERN_BENCH_MODEL_BOUNDS_H
