//===- KeyLock.h - One process of a host makes a kernel ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A byte of a file in the cache directory, one for each key, that the system locks: what a process has locked is free
// when it ends, however it ends.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CACHE_KEYLOCK_H
#define QUERN_RUNTIME_CACHE_KEYLOCK_H

#include "Desc/Key.h"
#include "Support/KeptDescriptor.h"

#include <functional>

namespace quern {

class KeyLock {
public:
  /// Nobody is kept out, as where the file system has no locks.
  KeyLock() = default;
  /// Takes the descriptor, which may be negative, and waits for as long as others have the lock and `goesOn`.
  KeyLock(int descriptor, const KernelKey &key, const std::function<bool()> &goesOn);
  KeyLock(KeyLock &&other) noexcept
      : file(std::move(other.file)), offset(other.offset), held(std::exchange(other.held, false)) {}
  KeyLock &operator=(KeyLock &&) = delete;
  ~KeyLock();

  bool isHeld() const { return held; }

private:
  KeptDescriptor file;
  int64_t offset = 0;
  bool held = false;
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_KEYLOCK_H
