//===- Bounds.h - Loops written by hand, as bounds ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// `bounds/loops.desc` names them: `NAME | STEP | PROBLEM`, where the loop of the problem's kernel is the one of that
// step that reads most in a turn. `bounds/LEVEL/NAME.s` is the loop for a level and those above it that have none of
// their own; it says `reads: N vectors` or `multiplies: N flops`, of a turn, and why no loop is faster.
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
  /// `mca` is the program llvm-mca.
  Bounds(std::string folder, std::string mca) : folder(std::move(folder)), mca(std::move(mca)) {}

  /// Of loops.desc. Throws std::runtime_error.
  std::vector<BoundedLoop> loops() const;
  /// Cycles for each byte read, or for each flop if the loop multiplies; nothing if the level has no such loop or the
  /// processor not its instructions. Throws std::runtime_error if llvm-mca does not run.
  std::optional<double> cyclesPerUnit(const std::string &name, const std::string &target,
                                      const std::string &processor) const;

private:
  std::string fileFor(const std::string &name, const std::string &target) const;
  std::optional<double> cyclesOf(const std::string &file, const std::string &processor) const;
  std::string folder, mca;
};

} // namespace quern::bench

#endif // QUERN_BENCH_MODEL_BOUNDS_H
