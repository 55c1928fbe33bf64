//===- Remote.cpp - Kernels that a fleet shares ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements quern_remote.h.
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "Kernels/Caches.h"

#include "quern/quern_remote.h"

#include <algorithm>

using namespace quern;

extern "C" {

quern_status_t quern_set_remote_cache(const quern_remote_cache_t *remote) noexcept {
  return api::guarded([&]() -> Result<void> {
    QUERN_REQUIRE("remote", remote);
    if (remote->milliseconds < 0)
      return invalidArguments("milliseconds is ", remote->milliseconds, "; it must be at least 0");
    constexpr int max = RemoteConfig::maxMilliseconds;
    if (remote->wait_milliseconds < -1 || remote->wait_milliseconds > max)
      return invalidArguments("wait_milliseconds is ", remote->wait_milliseconds, "; it must be -1 to ", max);
    QUERN_ASSIGN_OR_RETURN(RemoteConfig config, RemoteConfig::fromEnvironment());
    const auto take = [](std::string &text, const char *given) { text = given ? given : text; };
    take(config.servers, remote->servers);
    take(config.publicKeys, remote->public_keys);
    take(config.signingKey, remote->signing_key);
    take(config.passwordFile, remote->password_file);
    take(config.tokenFile, remote->token_file);
    if (remote->milliseconds > 0)
      config.milliseconds = static_cast<uint32_t>(remote->milliseconds);
    if (remote->wait_milliseconds != 0)
      config.waitMilliseconds = static_cast<uint32_t>(std::max(0, remote->wait_milliseconds));
    return Caches::process().remote.configure(config);
  });
}

quern_status_t quern_get_remote_statistics(quern_remote_statistics_t *statistics) noexcept {
  return api::guarded([&]() -> Result<void> {
    QUERN_REQUIRE("statistics", statistics);
    const quern_remote_counters counted = Caches::process().remote.counters();
    *statistics = {counted.hits,
                   counted.misses,
                   counted.remembered,
                   counted.skipped,
                   counted.timeouts,
                   counted.failures,
                   counted.rejected_unsigned,
                   counted.rejected_foreign,
                   counted.rejected_expired,
                   counted.rejected_mismatched,
                   counted.rejected_damaged,
                   counted.stores,
                   counted.store_failures,
                   counted.stores_dropped,
                   counted.bytes_received,
                   counted.bytes_sent,
                   counted.circuits_opened,
                   counted.leases,
                   counted.waits,
                   counted.waits_in_vain,
                   counted.late_hits};
    return {};
  });
}

quern_status_t quern_flush_remote_cache(int milliseconds) noexcept {
  return api::guarded([&]() -> Result<void> {
    if (milliseconds < 0)
      return invalidArguments("milliseconds is ", milliseconds, "; it must be at least 0");
    Caches::process().remote.flush(static_cast<uint32_t>(milliseconds));
    return {};
  });
}

} // extern "C"
