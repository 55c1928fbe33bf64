//===- Pack.h - Many compiled kernels in one file -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Artifacts of one build of the compiler, for one or several targets, behind an index that is sorted by the digests of
// their keys. Read-only: opened by mapping the file, so that processes share its pages. Nothing in it is trusted: the
// header and the index have a checksum, and every length, offset and order is checked when it is opened; an artifact is
// checked when it is looked up (Artifact::parse), and its key bytes decide.
//
// Built as part of the library quern_cache, which the command links as well.
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
  /// Of the bytes: the checksum of what follows, up to the end of the index, comes behind magic and version.
  static constexpr size_t headerBytes = magic.size() + sizeof(formatVersion) + 2 * sizeof(uint64_t);

  /// Maps a regular file. `runtime_error` if it cannot be read or is no pack, with the path and the reason.
  static Result<std::shared_ptr<const Pack>> open(const std::string &path);
  /// Reads bytes that outlive the pack; `name` says in messages what they are.
  static Result<std::shared_ptr<const Pack>> fromBytes(std::string_view bytes, const std::string &name);
  ~Pack();
  Pack(const Pack &) = delete;
  Pack &operator=(const Pack &) = delete;

  /// The path, or what the bytes are called.
  const std::string &name() const { return ownName; }
  const std::string &buildId() const { return build; }
  /// In the order of their texts; each occurs once.
  const std::vector<Target> &targets() const { return targetList; }
  std::string_view bytes() const { return all; }

  struct Entry {
    Digest digest; ///< of the key
    std::string_view artifact;
  };
  /// In ascending order of digests.
  size_t size() const { return count; }
  /// `i` is less than size().
  Entry entry(size_t i) const;
  /// What the index has for a digest; empty if it has nothing.
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

/// The bytes of a pack of these artifacts, the same for every order of them. Of several with one key the first is
/// taken. `invalid_arguments` if one is no artifact of a compiler, or if they are of several builds.
Result<std::string> writePack(const std::vector<std::string_view> &artifacts);

/// Why an entry cannot serve its key, or its artifact: it must parse, have the digest of the index, and be of the
/// pack's build and one of its targets.
Result<Artifact> checkEntry(const Pack &pack, const Pack::Entry &entry);

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_PACK_H
