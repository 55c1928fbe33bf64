//===- Pack.h - Many compiled kernels in one file -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Artifacts of one compiler build, for one or more targets, after an index sorted by the digests of their keys. The
// file is mapped read-only, so that processes share its pages. Nothing in it is trusted. The header and the index have
// a checksum; open() checks every size, offset and order. An artifact is checked when it is looked up
// (Artifact::parse()), and used only if its key bytes match.
//
// Part of the library quern_cache, which the `quern` command also links.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CACHE_PACK_H
#define QUERN_RUNTIME_CACHE_PACK_H

#include "Artifact/Artifact.h"
#include "Desc/Target.h"
#include "Support/Digest.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// Immutable.
class Pack {
public:
  static constexpr std::string_view magic = "QUERNPAK";
  static constexpr uint32_t formatVersion = 1;
  /// Size in bytes of magic, version and the checksum of the other bytes up to the end of the index.
  static constexpr size_t headerBytes = magic.size() + sizeof(formatVersion) + 2 * sizeof(uint64_t);

  /// Maps a regular file. Fails with `runtime_error`, the path and a reason if it cannot be read or is not a pack.
  static Result<std::shared_ptr<const Pack>> open(const std::string &path);
  /// Reads bytes that outlive the pack; `name` identifies them in messages.
  static Result<std::shared_ptr<const Pack>> fromBytes(std::string_view bytes, const std::string &name);
  ~Pack();
  Pack(const Pack &) = delete;
  Pack &operator=(const Pack &) = delete;

  /// Returns the path, or the name of the bytes.
  const std::string &name() const { return ownName; }
  const std::string &buildId() const { return build; }
  /// Returns the targets, sorted by their texts and without duplicates.
  const std::vector<Target> &targets() const { return targetList; }
  std::string_view bytes() const { return all; }

  struct Entry {
    Digest digest; ///< digest of the key
    std::string_view artifact;
  };
  /// Returns the number of entries, which are in ascending order of digests.
  size_t size() const { return count; }
  /// Returns entry `i`, which must be less than size().
  Entry entry(size_t i) const;
  /// Returns the artifact for a digest; empty if there is none.
  std::string_view find(const Digest &digest) const;

private:
  Pack(std::string name, std::string_view bytes, bool isMapped)
      : ownName(std::move(name)), all(bytes), isMapped(isMapped) {}
  Result<void> read();
  Result<void> readIndex();

  std::string ownName, build;
  std::string_view all, index;
  bool isMapped;
  size_t count = 0;
  std::vector<Target> targetList;
};

/// Returns the bytes of a pack of these artifacts, whatever their order. If several have one key, the first is used.
/// Fails with `invalid_arguments` if one is not an artifact or is a device driver's binary, or if they are of several
/// builds.
Result<std::string> writePack(const std::vector<std::string_view> &artifacts);

/// Returns the artifact of an entry, or the reason why it is unusable: it must parse, have the digest of the index, and
/// be of the pack's build and of one of its targets.
Result<Artifact> checkEntry(const Pack &pack, const Pack::Entry &entry);

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_PACK_H
