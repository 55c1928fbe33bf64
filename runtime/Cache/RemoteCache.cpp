//===- RemoteCache.cpp - The remote cache of a process -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cache/RemoteCache.h"

namespace quern {

Result<void> RemoteCache::configure(const RemoteConfig &config) {
  std::call_once(environmentRead, [] {}); // what is asked for by a call takes the place of the environment
  if (config.servers.empty()) {
    current = nullptr;
    return {};
  }
  Result<std::string> path = library();
  if (!path)
    return path.takeError();
  Result<std::unique_ptr<Remote>> opened = Remote::open(*path, config, report);
  if (!opened)
    return opened.takeError();
  std::lock_guard lock(mutex);
  all.push_back(std::move(*opened));
  patienceMs = config.waitMilliseconds;
  current = all.back().get();
  return {};
}

Remote *RemoteCache::get() {
  std::optional<Error> refusal;
  std::call_once(environmentRead, [&] {
    Result<RemoteConfig> config = RemoteConfig::fromEnvironment();
    if (config && config->servers.empty())
      return;
    Result<std::string> path = config ? library() : Result<std::string>(config.takeError());
    Result<std::unique_ptr<Remote>> opened =
        path ? Remote::open(*path, *config, report) : Result<std::unique_ptr<Remote>>(path.takeError());
    if (!opened) {
      refusal = opened.takeError();
      return;
    }
    std::lock_guard lock(mutex);
    all.push_back(std::move(*opened));
    patienceMs = config->waitMilliseconds;
    current = all.back().get();
  });
  if (refusal && report)
    report(nullptr, /*isOpen=*/1, refusal->message.c_str());
  return current.load(std::memory_order_acquire);
}

std::optional<uint32_t> RemoteCache::patience() { return get() ? std::optional<uint32_t>(patienceMs) : std::nullopt; }

std::optional<RemoteCache::Hit> RemoteCache::lookup(const KernelKey &key, const std::string &target,
                                                    const std::string &descriptor, const quern_remote_waiter &waiter) {
  Remote *remote = get();
  if (!remote)
    return std::nullopt;
  std::optional<std::string> bytes =
      remote->get({key.bytes, target, std::string(compilerBuildId()), descriptor}, waiter);
  if (!bytes)
    return std::nullopt;
  Result<Artifact> artifact = Artifact::parse(*bytes);
  if (!artifact || artifact->keyBytes != key.bytes)
    return std::nullopt;
  return Hit{std::move(*bytes), std::move(*artifact)};
}

std::optional<RemoteCache::Hit> RemoteCache::lookup(const KernelKey &key, const std::string &target,
                                                    const std::string &descriptor) {
  const auto no = [](void *) { return 0; };
  return lookup(key, target, descriptor, {quern_remote_never, no, no, nullptr});
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
