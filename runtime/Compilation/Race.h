//===- Race.h - Compiling in parallel with the caller ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A compilation on a separate thread, while the caller waits for something that may come first. The caller may continue
// without waiting for the compilation: nothing that the thread uses is destroyed when threads or the process end.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_RACE_H
#define QUERN_RUNTIME_COMPILATION_RACE_H

#include "Support/Error.h"

#include <functional>
#include <memory>
#include <optional>

namespace quern {

/// What a compiler has made.
struct Compiled {
  std::string artifact;
  std::string stageTimes; ///< empty where nobody wants them
  int64_t ns = 0;
};

class Race {
public:
  /// `compile` must own what it reads, or read what is never destroyed. Null if no thread can be created.
  static std::shared_ptr<Race> begin(std::function<Result<Compiled>()> compile);

  bool isOver() const;
  /// What the compiler made, or why it did not: also because it was cut short.
  Result<Compiled> wait();

private:
  void run(const std::function<Result<Compiled>()> &compile);

  std::optional<Result<Compiled>> result{}; ///< guarded by the mutex of all races
};

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_RACE_H
