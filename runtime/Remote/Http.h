//===- Http.h - Entries as HTTP resources ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Uses GET, PUT and HEAD of <base>/ac/<name>, as supported by bazel-remote, nginx with WebDAV and object stores behind
// a signing proxy.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_HTTP_H
#define QUERN_RUNTIME_REMOTE_HTTP_H

#include "Remote/Transfer.h"

namespace quern::remote {

class HttpConnection : public TransferConnection {
public:
  using TransferConnection::TransferConnection;

  Outcome get(const EntryName &name, std::string &bytes, const Deadline &deadline) override;
  Outcome put(const EntryName &name, std::string_view bytes, int64_t seconds, const Deadline &deadline) override;
  Outcome contains(const EntryName &name, const Deadline &deadline) override;
  Outcome lease(const EntryName &name, int which, Lease &lease, const Deadlines &deadlines) override;
  Outcome list(const std::function<void(const EntryName &)> &each, const Deadlines &deadlines) override;

private:
  enum class Method { Get, Put, Create, Head };
  struct Body;
  Outcome ask(Method method, std::string_view name, Body &body, const Deadline &deadline);
  int64_t serverSeconds() const;

  int64_t serverAheadSeconds = 0; ///< server time minus steady clock, from Date headers
  bool hasServerTime = false;
};

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_HTTP_H
