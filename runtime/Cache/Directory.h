//===- Directory.h - A private directory, accessed safely -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The file-system part of the disk cache. Every access uses the descriptor of a directory that was checked when it was
// opened (owned by this user, writable only by this user, not a symbolic link), with O_NOFOLLOW. Therefore no other
// user can replace a path between the check and the access.
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
  /// Opens a directory; returns null if it does not exist and `create` is false. Fails with `runtime_error` if it is
  /// rejected or cannot be created.
  static Result<std::shared_ptr<OpenDirectory>> open(const std::string &path, bool create);

  /// Returns true if the descriptor is still that of the directory, and the directory still exists and is still
  /// private.
  bool isCurrent() const;

  struct File {
    std::string name;
    uint64_t bytes = 0;
    int64_t modifiedSeconds = 0;
  };
  /// Lists the regular files.
  Result<std::vector<File>> files() const;
  /// Reads a file; returns nullopt if it does not exist. Updates the modification time if it is older than
  /// `touchAfterSeconds`. Fails with `invalid_arguments` if it is not a regular file of this user with at most `limit`
  /// bytes, and with `runtime_error` if the system cannot open or read it now; the file itself may be valid.
  Result<std::optional<std::string>> read(const std::string &name, uint64_t limit, int64_t touchAfterSeconds) const;
  /// Writes a new file; on failure no file remains.
  Result<void> writeNew(const std::string &name, std::string_view bytes) const;
  Result<void> rename(const std::string &from, const std::string &to) const;
  bool remove(const std::string &name) const;
  bool contains(const std::string &name) const;
  /// Returns the descriptor of a file without contents, which is created if it does not exist; negative on failure.
  int openEmpty(const std::string &name) const;

private:
  explicit OpenDirectory(int descriptor) : kept(descriptor) {}
  KeptDescriptor kept;
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_DIRECTORY_H
