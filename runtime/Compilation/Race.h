//===- Race.h - Compiling in parallel with the caller ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles on a separate thread while the caller waits for another result that may come first. The caller may continue
// without waiting for the compilation: the objects that the thread uses are not destroyed at the end of threads or of
// the process.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_RACE_H
#define QUERN_RUNTIME_COMPILATION_RACE_H

#include "Support/Error.h"

#include <functional>
#include <memory>
#include <optional>

namespace quern {

/// The result of a compiler.
struct Compiled {
  std::string artifact;
  std::string stageTimes; ///< empty if not requested
  int64_t ns = 0;
};

class Race {
public:
  /// Starts a compilation. `compile` must own the objects that it reads, or they must never be destroyed. Returns null
  /// if no thread can be created.
  static std::shared_ptr<Race> begin(std::function<Result<Compiled>()> compile);

  bool isOver() const;
  /// Returns the result of the compiler, or its error, also if it was aborted.
  Result<Compiled> wait();

private:
  void run(const std::function<Result<Compiled>()> &compile);

  std::optional<Result<Compiled>> result{}; ///< guarded by the mutex of all races
};

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_RACE_H
