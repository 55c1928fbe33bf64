//===- Packs.cpp - The packs of a process ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A lookup searches each target that a pack has and that the engine includes, with the problem's key for that target.
//
//===----------------------------------------------------------------------===//
#include "Cache/Packs.h"

#include "Primitives/Registry.h"
#include "Support/Forks.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace quern {
namespace {

constexpr const char *nameOfData = "memory";

/// Splits a list at colons and drops empty parts.
std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (end > 0)
      parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

/// Returns the packs of a folder, sorted by name; empty if the folder does not exist.
std::vector<std::string> packsIn(const std::string &folder) {
  std::vector<std::string> found;
  std::error_code failure;
  std::filesystem::directory_iterator next(folder, failure);
  for (; !failure && next != std::filesystem::directory_iterator(); next.increment(failure))
    if (next->path().extension() == ".qpk")
      found.push_back(next->path().string());
  std::sort(found.begin(), found.end());
  return found;
}

} // namespace

/// The exclusive lock of a writer, which is held in a fork section.
struct Packs::Writing {
  explicit Writing(Packs &packs) : lock(packs.mutex) {}
  const std::lock_guard<std::shared_mutex> lock;
  const ForkSection section;
};

Result<void> Packs::add(Result<std::shared_ptr<const Pack>> pack, bool isFirst) {
  if (!pack)
    return pack.takeError();
  if ((*pack)->size() > 0 && (*pack)->buildId() != compilerBuildId())
    return invalidArguments("the pack ", (*pack)->name(), " is of build ", (*pack)->buildId(), "; this libquern is of ",
                            compilerBuildId());
  packs.insert(isFirst ? packs.begin() + static_cast<ptrdiff_t>(addedCount++) : packs.end(), std::move(*pack));
  return {};
}

/// Rebuilds the groups from the packs. Requires exclusive ownership of the mutex.
void Packs::regroup() {
  groups.clear();
  for (const std::shared_ptr<const Pack> &pack : packs)
    for (const Target &target : pack->targets()) {
      auto group =
          std::find_if(groups.begin(), groups.end(), [&](const PackGroup &one) { return one.target == target; });
      if (group == groups.end())
        group = groups.insert(group, {target, {}});
      group->packs.push_back(pack);
    }
  std::sort(groups.begin(), groups.end(), [](const PackGroup &a, const PackGroup &b) {
    return a.target.isa != b.target.isa ? a.target.isa > b.target.isa : a.target.text() < b.target.text();
  });
}

void Packs::ensureOpened() {
  if (hasOpened.load(std::memory_order_acquire))
    return;
  const char *listed = secure_getenv("QUERN_PACKS");
  std::vector<std::string> paths = split(listed ? listed : "");
  const std::vector<std::string> found = installed.empty() ? std::vector<std::string>() : packsIn(installed);
  paths.insert(paths.end(), found.begin(), found.end());
  const Writing lock(*this);
  if (hasOpened.load(std::memory_order_relaxed))
    return;
  for (const std::string &path : paths)
    if (Result<void> added = add(Pack::open(path), /*isFirst=*/false); !added)
      refusalText += "; " + added.error().message;
  regroup();
  hasOpened.store(true, std::memory_order_release);
}

Result<void> Packs::addFile(const std::string &path) {
  Result<std::shared_ptr<const Pack>> pack = Pack::open(path);
  const Writing lock(*this);
  const auto known = packs.begin() + static_cast<ptrdiff_t>(addedCount);
  if (std::any_of(packs.begin(), known, [&](const auto &other) { return other->name() == path; }))
    return {};
  Result<void> added = add(std::move(pack), /*isFirst=*/true);
  regroup();
  return added;
}

Result<void> Packs::addData(std::string_view bytes) {
  Result<std::shared_ptr<const Pack>> pack = Pack::fromBytes(bytes, nameOfData);
  const Writing lock(*this);
  Result<void> added = add(std::move(pack), /*isFirst=*/true);
  regroup();
  return added;
}

Result<void> Packs::removeData(const void *data) {
  const Writing lock(*this);
  const auto found = std::find_if(packs.begin(), packs.end(), [&](const std::shared_ptr<const Pack> &pack) {
    return pack->bytes().data() == data && pack->name() == nameOfData;
  });
  if (found == packs.end())
    return invalidArguments("no pack was added at this address");
  --addedCount;
  packs.erase(found);
  regroup();
  return {};
}

/// Calls `use` for the artifacts of `group` with this key until it succeeds; returns true if it did. Requires shared
/// ownership of the mutex.
bool Packs::useOf(const PackGroup &group, const KernelKey &key, const Use &use) {
  for (const std::shared_ptr<const Pack> &pack : group.packs) {
    const std::string_view bytes = pack->find(key.digest);
    if (bytes.empty())
      continue;
    Result<Artifact> artifact = Artifact::parse(bytes);
    if (artifact && artifact->keyBytes == key.bytes &&
        use({std::string(bytes), std::move(*artifact), std::make_shared<const std::string>(pack->name())})) {
      hits += 1;
      return true;
    }
    rejected += 1;
  }
  return false;
}

bool Packs::lookup(const PrimitiveDesc &desc, const KernelKey &key, const Target &target, const Use &use) {
  ensureOpened();
  std::shared_lock lock(mutex);
  for (const PackGroup &group : groups)
    if (group.target == target && useOf(group, key, use))
      return true;
  for (const PackGroup &group : groups)
    if (group.target != target && target.runs(group.target) && useOf(group, keyOf(desc, group.target), use))
      return true;
  return false;
}

bool Packs::isEmpty() {
  ensureOpened();
  std::shared_lock lock(mutex);
  return groups.empty();
}

std::string Packs::refusals() {
  ensureOpened();
  std::shared_lock lock(mutex);
  return refusalText;
}

} // namespace quern
