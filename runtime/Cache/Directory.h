//===- Directory.h - A private directory, opened without trust ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The file-system half of the disk cache. Every access goes through the descriptor of a directory that was
// checked when it was opened (ours, writable by nobody else, not a symbolic link), with O_NOFOLLOW, so that
// nobody can swap a path in between.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CACHE_DIRECTORY_H
#define QUERN_RUNTIME_CACHE_DIRECTORY_H

#include "Support/Error.h"
#include "Support/KeptDescriptor.h"

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace quern {

class OpenDirectory {
public:
  /// Null if the directory does not exist and `create` is false; `runtime_error` if it is refused or cannot be made.
  static Result<std::shared_ptr<OpenDirectory>> open(const std::string &path, bool create);

  /// Returns true if the descriptor still stands for it, it is linked in the file system, and it is as private as when
  /// it was opened.
  bool isCurrent() const;

  struct File {
    std::string name;
    uint64_t bytes = 0;
    int64_t modifiedSeconds = 0;
  };
  /// Regular files only.
  Result<std::vector<File>> files() const;
  /// Nothing if there is no such file. Sets the time of modification to now if it is older than `touchAfterSeconds`.
  /// `invalid_arguments`: it is not a regular file of ours of at most `limit` bytes. `runtime_error`: the system cannot
  /// open or read it now, which says nothing about the file.
  Result<std::optional<std::string>> read(const std::string &name, uint64_t limit, int64_t touchAfterSeconds) const;
  /// Writes a file that did not exist; on failure none is left behind.
  Result<void> writeNew(const std::string &name, std::string_view bytes) const;
  Result<void> rename(const std::string &from, const std::string &to) const;
  bool remove(const std::string &name) const;
  bool contains(const std::string &name) const;
  /// The descriptor of a file that nothing is in, made if it is not there; negative where that cannot be.
  int openEmpty(const std::string &name) const;

private:
  explicit OpenDirectory(int descriptor) : kept(descriptor) {}
  KeptDescriptor kept;
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_DIRECTORY_H
