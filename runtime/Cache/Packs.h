//===- Packs.h - The packs of a process -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The order is: packs that the program added, packs of QUERN_PACKS, packs installed with the library. The latter two
// are opened by the first lookup. A kernel for the engine's own target comes first. On a CPU, a kernel for another
// target also works if the engine's instruction set includes it; the widest comes first. Cache sizes affect speed, not
// results.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CACHE_PACKS_H
#define QUERN_RUNTIME_CACHE_PACKS_H

#include "Cache/Pack.h"
#include "Desc/Key.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <shared_mutex>

namespace quern {

/// Thread-safe.
class Packs {
public:
  /// `installed` is the folder that packs are installed in, or "".
  explicit Packs(std::string installed) : installed(std::move(installed)) {}

  /// See Pack::open(). A file that was already added under the same name is not added again. Fails with
  /// `invalid_arguments` if it is of another build of Quern.
  Result<void> addFile(const std::string &path);
  /// Adds a pack in memory. `bytes` must remain valid and unchanged until removeData().
  Result<void> addData(std::string_view bytes);
  /// Removes the pack at this address; then no thread reads it any more. Fails with `invalid_arguments` if there is
  /// none.
  Result<void> removeData(const void *data);

  struct Hit {
    std::string bytes;
    Artifact artifact;
    std::shared_ptr<const std::string> pack; ///< name of the pack
  };
  /// Uses a hit. A failure counts as a rejection, and the next pack is tried.
  using Use = std::function<Result<void>(Hit &&hit)>;
  /// Returns true if a kernel of the problem was found and used. `key` is keyOf(desc, target).
  bool lookup(const PrimitiveDesc &desc, const KernelKey &key, const Target &target, const Use &use);

  /// Returns true if no pack has an artifact.
  bool isEmpty();

  /// Called in the child of a fork, where the parent's readers do not exist.
  void forgetInFork() { new (&mutex) std::shared_mutex; }

  /// Returns why packs of QUERN_PACKS and installed packs were rejected, such as "; the pack a.qpk is refused: …", or
  /// "".
  std::string refusals();

  std::atomic<uint64_t> hits{0}, rejected{0};

private:
  /// The packs that have kernels for one target.
  struct PackGroup {
    Target target;
    std::vector<std::shared_ptr<const Pack>> packs;
  };
  struct Writing;
  Result<void> add(Result<std::shared_ptr<const Pack>> pack, bool isFirst);
  void ensureOpened();
  void regroup();
  bool useOf(const PackGroup &group, const KernelKey &key, const Use &use);

  const std::string installed;
  std::atomic<bool> hasOpened{false};
  /// Guards the members below. Held while a pack is used, so only writers hold it in a fork section.
  std::shared_mutex mutex;
  std::vector<std::shared_ptr<const Pack>> packs;
  size_t addedCount = 0;         ///< number of packs that the program added, which come first
  std::vector<PackGroup> groups; ///< the widest instruction set first
  std::string refusalText;
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_PACKS_H
