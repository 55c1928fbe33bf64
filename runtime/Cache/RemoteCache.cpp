//===- RemoteCache.cpp - The remote cache of a process -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cache/RemoteCache.h"

namespace quern {

/// Opens the library with this configuration. Requires the lock.
Result<void> RemoteCache::open(const RemoteConfig &config) {
  QUERN_ASSIGN_OR_RETURN(std::string path, library());
  QUERN_ASSIGN_OR_RETURN(std::unique_ptr<Remote> opened, Remote::open(path, config, report));
  all.push_back(std::move(opened));
  patienceMs = config.waitMilliseconds;
  current = all.back().get();
  isRefused = false;
  return {};
}

Result<void> RemoteCache::configure(const RemoteConfig &config) {
  std::lock_guard lock(mutex);
  environmentRead.store(true, std::memory_order_release); // a call replaces the environment
  if (!config.servers.empty())
    return open(config);
  current = nullptr;
  isRefused = false;
  return {};
}

void RemoteCache::readEnvironment() {
  std::optional<Error> refusal;
  {
    std::lock_guard lock(mutex);
    if (environmentRead.load(std::memory_order_relaxed))
      return;
    Result<RemoteConfig> config = RemoteConfig::fromEnvironment();
    Result<void> opened;
    if (!config)
      opened = config.takeError();
    else if (!config->servers.empty())
      opened = open(*config);
    if (!opened) {
      refusal = opened.error();
      isRefused = true;
    }
    environmentRead.store(true, std::memory_order_release);
  }
  if (refusal && report)
    report(nullptr, /*isOpen=*/1, refusal->message.c_str());
}

Remote *RemoteCache::get() {
  if (!environmentRead.load(std::memory_order_acquire))
    readEnvironment();
  return current.load(std::memory_order_acquire);
}

std::optional<uint32_t> RemoteCache::patience() { return get() ? std::optional<uint32_t>(patienceMs) : std::nullopt; }

std::optional<RemoteCache::Hit> RemoteCache::lookup(const KernelKey &key, const std::string &target,
                                                    const std::string &descriptor, const quern_remote_waiter &waiter) {
  Remote *remote = get();
  if (!remote)
    return std::nullopt;
  std::optional<RemoteArtifact> found =
      remote->get({key.bytes, target, std::string(compilerBuildId()), descriptor}, waiter);
  if (!found)
    return std::nullopt;
  Result<Artifact> artifact = Artifact::parse(found->bytes);
  if (!artifact || artifact->keyBytes != key.bytes)
    return std::nullopt;
  return Hit{std::move(found->bytes), std::move(*artifact), found->origin};
}

bool RemoteCache::believes(const quern_remote_origin &origin) {
  Remote *remote = get();
  return remote ? remote->believes(origin) : !isRefused;
}

void RemoteCache::store(const KernelKey &key, const std::string &target, const std::string &descriptor,
                        std::string_view artifact) {
  Remote *remote = get();
  if (remote && remote->canWrite())
    remote->put({key.bytes, target, std::string(compilerBuildId()), descriptor}, artifact);
}

quern_remote_counters RemoteCache::counters() {
  Remote *remote = get();
  return remote ? remote->counters() : quern_remote_counters{};
}

void RemoteCache::flush(uint32_t milliseconds) {
  if (Remote *remote = get())
    remote->flush(milliseconds);
}

} // namespace quern
