//===- RemoteSource.cpp - Kernels of servers ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Usually one process per host compiles a missing kernel, and at most two hosts of a fleet do.
//
//===----------------------------------------------------------------------===//
#include "Kernels/Load.h"
#include "Support/Clock.h"

#include <algorithm>

namespace quern {
namespace {

constexpr int64_t nsPerMs = 1'000'000;

/// Waits for servers and for others that compile the same kernel. If a response is late, starts the compiler meanwhile.
class Waiter {
public:
  Waiter(KernelSearch &search, uint32_t patienceMs) : search(search), end(nowNs() + patienceMs * nsPerMs) {}

  /// Returns true until the wait times out or is canceled.
  bool goesOn() const { return !search.request.isCanceled() && nowNs() < end; }
  /// Returns the callbacks for libquern-remote. They do not throw.
  quern_remote_waiter onServers() {
    const int64_t left = std::max<int64_t>(0, end - nowNs()) / nsPerMs;
    return {static_cast<uint32_t>(left), isOver, begin, this};
  }

private:
  static int isOver(void *self) noexcept {
    const KernelSearch &search = static_cast<const Waiter *>(self)->search;
    return search.request.isCanceled() || (search.race && search.race->isOver());
  }
  static int begin(void *self) noexcept {
    KernelSearch &search = static_cast<Waiter *>(self)->search;
    if (search.race)
      return 1;
    try {
      search.race = Race::begin([&caches = search.caches, descriptor = search.request.problem.desc.canonicalBytes(),
                                 target = search.request.target.text()] {
        return runCompiler(caches, descriptor,
                           target); // the caches are never destroyed
      });
    } catch (...) { // then it is compiled after the wait for servers
      return 0;
    }
    return search.race != nullptr;
  }

  KernelSearch &search;
  const int64_t end;
};

} // namespace

Lookup<AcquiredKernel> findAtServers(KernelSearch &search) {
  const KernelRequest &request = search.request;
  const std::optional<uint32_t> patience = search.caches.remote.patience();
  if (!patience)
    return {};
  Waiter waiter(search, *patience);
  search.lock.emplace(search.disk().lock(request.key, [&] { return waiter.goesOn(); }));
  if (search.disk().contains(request.key)) // stored since this process last looked
    if (Lookup<AcquiredKernel> found = findOnDisk(search))
      return found;
  std::optional<RemoteCache::Hit> hit =
      search.caches.remote.lookup(request.key, request.target.text(), request.problem.desc.text(), waiter.onServers());
  if (!hit)
    return {};
  (void)search.disk().store(request.key, hit->bytes,
                            &hit->origin); // counts failures
  return loadOrReject(search, {std::move(hit->artifact), std::move(hit->bytes), quern_origin_remote, hit->origin});
}

} // namespace quern
