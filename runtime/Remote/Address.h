//===- Address.h - Addresses of servers -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_ADDRESS_H
#define QUERN_RUNTIME_REMOTE_ADDRESS_H

#include "Support/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace quern::remote {

/// One server of QUERN_REMOTE_CACHE:
///
///   redis://[user@]host[:port]   redis:///path/of/a/socket   rediss://[user@]host[:port]
///   http://host[:port][/base]    https://host[:port][/base]
///
/// and, each after a comma, read-only, names, days=N, db=N, ca=FILE, password-file=FILE, token-file=FILE.
struct Address {
  enum class Protocol { Redis, Http };
  Protocol protocol = Protocol::Redis;
  bool isEncrypted = false;
  std::string text;   ///< the address without options, for messages
  std::string host;   ///< host and port of a Redis server; "" for a socket
  std::string socket; ///< path of a unix socket
  std::string user;   ///< user name for a Redis server; "" for the default user
  std::string base;   ///< prefix of "/ac/<name>" for HTTP
  bool isReadOnly = false, hasNames = false;
  int days = 30; ///< days until a stored entry expires
  int database = 0;
  std::string caFile, passwordFile, tokenFile;
};

/// Parses addresses separated by semicolons.
Result<std::vector<Address>> parseAddresses(std::string_view text);

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_ADDRESS_H
