//===- KeyLock.cpp - A lock for the compilation of a kernel ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cache/KeyLock.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace quern {
namespace {

constexpr std::chrono::microseconds firstPause{200}, longestPause{4000};

/// Sets or releases a lock. It belongs to an open file, not to a process, so it also excludes other threads.
bool setLock(int fd, short type, int64_t offset) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

} // namespace

KeyLock::KeyLock(int descriptor, const KernelKey &key, const std::function<bool()> &goesOn)
    : file(descriptor), offset(static_cast<int64_t>(key.digest.low >> 2)) {
  for (std::chrono::microseconds pause = firstPause;; pause = std::min(2 * pause, longestPause)) {
    held = setLock(file.get(), F_WRLCK, offset);
    if (held || (errno != EAGAIN && errno != EACCES && errno != EINTR))
      return;
    if (!goesOn())
      return;
    std::this_thread::sleep_for(pause);
  }
}

KeyLock::~KeyLock() {
  if (held) // the child of a fork shares the open file, so closing it does not release the lock
    (void)setLock(file.get(), F_UNLCK, offset);
}

} // namespace quern
