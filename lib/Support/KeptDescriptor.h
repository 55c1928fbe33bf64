//===- KeptDescriptor.h - A file descriptor that is kept between calls ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A program may close descriptors that it did not open, as daemons do, and its next file can then reuse the number of
// one of the library's descriptors. Each descriptor that is kept between calls therefore stores the identity of its
// file, by device and inode, and is neither used nor closed if its number belongs to another file.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_KEPTDESCRIPTOR_H
#define QUERN_SUPPORT_KEPTDESCRIPTOR_H

#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace quern {

/// The device and inode of an open file.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  /// Returns the identity of the descriptor's file; the zero identity if the descriptor is not open.
  static FileIdentity of(int descriptor) {
    struct stat info;
    return descriptor >= 0 && fstat(descriptor, &info) == 0 ? FileIdentity{info.st_dev, info.st_ino} : FileIdentity{};
  }
  bool operator==(const FileIdentity &) const = default;
};

/// Owns a descriptor. Movable; not thread-safe.
class KeptDescriptor {
public:
  KeptDescriptor() = default;
  /// Takes ownership of a descriptor that was just opened; negative: none.
  explicit KeptDescriptor(int descriptor) : number(descriptor), identity(FileIdentity::of(descriptor)) {}
  KeptDescriptor(KeptDescriptor &&other) noexcept : number(std::exchange(other.number, -1)), identity(other.identity) {}
  KeptDescriptor &operator=(KeptDescriptor &&other) noexcept {
    std::swap(number, other.number);
    std::swap(identity, other.identity);
    return *this;
  }
  ~KeptDescriptor() { reset(); }

  /// Returns the descriptor, or -1 if there is none or its number now belongs to another file.
  int get() const { return number >= 0 && FileIdentity::of(number) == identity ? number : -1; }
  void reset() {
    if (get() >= 0)
      (void)close(number);
    number = -1;
  }

private:
  int number = -1;
  FileIdentity identity;
};

} // namespace quern

#endif // QUERN_SUPPORT_KEPTDESCRIPTOR_H
