//===- KeyLock.h - A lock for the compilation of a kernel -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A process that compiles a kernel locks the key's byte of a file in the cache directory, so that other processes of
// the host wait for the kernel and do not compile it again. The system releases the locks of a process when it ends for
// any reason.
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
  /// Holds no lock and excludes no process, like a lock on a file system without locks.
  KeyLock() = default;
  /// Takes ownership of the descriptor, which may be negative. Waits while others have the lock and `goesOn` returns
  /// true.
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
