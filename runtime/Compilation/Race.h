//===- Race.h - Compiling beside the caller -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A compilation on a thread of its own, while the caller waits for something that may come first. A caller who has that
// goes on; at its own end his thread waits for what it has begun, as it would have if it had compiled itself. So
// nothing runs when the compiler's statics go: threads end before those, and that of exit() ends its own objects first.
// A fork waits for what compiles in this process.
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
  /// `compile` must own what it reads. Null if no thread is to be had, or the caller's ends.
  static std::shared_ptr<Race> begin(std::function<Result<Compiled>()> compile);

  bool isOver() const;
  /// What the compiler made, or why it did not: also because it was cut short.
  Result<Compiled> wait();

private:
  friend class Races;
  std::optional<Result<Compiled>> result{}; ///< guarded by the mutex of all races
};

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_RACE_H
