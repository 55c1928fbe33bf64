//===- Verbose.h - Lines on standard output, when asked for ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// QUERN_VERBOSE or quern_set_verbose(): 1 prints executions, 2 creations as well. Fields are separated by commas, the text form is the last
// but one, the time in ms the last.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_VERBOSE_H
#define QUERN_RUNTIME_VERBOSE_H

#include <atomic>
#include <cstdint>
#include <string>

namespace quern {

class Primitive;
struct VerifiedProblem;

namespace detail {
/// -1: not read from the environment.
inline std::atomic<int> verbose{-1};
int readVerbose();
} // namespace detail

inline int verboseLevel() {
  const int level = detail::verbose.load(std::memory_order_relaxed);
  return level >= 0 ? level : detail::readVerbose();
}
inline void setVerboseLevel(int level) { detail::verbose.store(level, std::memory_order_relaxed); }

/// `stages` says how long each took; `ns` is their sum and what lies between them.
void printCompiled(const VerifiedProblem &problem, const std::string &stages, int64_t ns);
void printCreated(const Primitive &primitive);
void printExecuted(const Primitive &primitive, int64_t ns);

} // namespace quern

#endif // QUERN_RUNTIME_VERBOSE_H
