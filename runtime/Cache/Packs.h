//===- Packs.h - The packs of a process -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Those that the program added, those of QUERN_PACKS, and what is installed beside the library, in this order; the
// latter two are opened at the first look-up. A kernel for the engine's own target comes first; on a CPU one for
// another serves as well if the engine's instruction set includes it, the widest first: cache sizes decide speed, not
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

  /// As Pack::open(). A file that was added before under the same name is not opened again. `invalid_arguments` if it
  /// is of another build of Quern.
  Result<void> addFile(const std::string &path);
  /// `bytes` must stay as they are until they are removed.
  Result<void> addData(std::string_view bytes);
  /// Takes out what was added at this address; no thread reads it any more then. `invalid_arguments` if there is none.
  Result<void> removeData(const void *data);

  struct Hit {
    std::string bytes;
    Artifact artifact;
    std::shared_ptr<const std::string> pack; ///< its name
  };
  /// What `use` makes of a hit; a failure other than of memory counts as a rejection, and the next is tried.
  using Use = std::function<Result<void>(Hit &&hit)>;
  /// Whether a kernel of the problem was found and used. `key` is keyOf(desc, target).
  bool lookup(const PrimitiveDesc &desc, const KernelKey &key, const Target &target, const Use &use);

  /// Whether there is none with an artifact.
  bool areEmpty();

  /// In the child of a fork: the parent's readers are not here.
  void forgetInFork() { new (&mutex) std::shared_mutex; }

  /// Why packs that nobody asked for by a call are not used: "; the pack a.qpk is refused: …", or nothing.
  std::string refusals();

  std::atomic<uint64_t> hits{0}, rejected{0};

private:
  /// A target of some packs.
  struct Group {
    Target target;
    std::vector<std::shared_ptr<const Pack>> packs;
  };
  struct Writing;
  Result<void> add(Result<std::shared_ptr<const Pack>> pack, bool isFirst);
  void ensureOpened();
  void regroup();
  bool useOf(const Group &group, const KernelKey &key, const Use &use);

  const std::string installed;
  std::atomic<bool> hasOpened{false};
  /// Guards the members below. It is held while a pack is used, so its holder is in a section of forks only to write.
  std::shared_mutex mutex;
  std::vector<std::shared_ptr<const Pack>> packs;
  size_t addedCount = 0;     ///< of them, those that the program added, which come first
  std::vector<Group> groups; ///< the widest instruction set first
  std::string refusalText;
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_PACKS_H
