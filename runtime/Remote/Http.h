//===- Http.h - Entries as resources -----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// GET, PUT and HEAD of <base>/ac/<name>, as bazel-remote, nginx with WebDAV and stores behind a signing proxy have
// them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_HTTP_H
#define QUERN_RUNTIME_REMOTE_HTTP_H

#include "Remote/Transfer.h"

namespace quern::remote {

class HttpConnection : public Connection {
public:
  HttpConnection(const Address &address, const Secrets &secrets) : address(address), secrets(secrets) {}

  Outcome get(const EntryName &name, std::string &bytes, const Deadline &deadline) override;
  Outcome put(const EntryName &name, std::string_view bytes, int64_t seconds, const Deadline &deadline) override;
  Outcome contains(const EntryName &name, const Deadline &deadline) override;
  Outcome lease(const EntryName &name, int64_t milliseconds, const Deadline &deadline) override;
  Outcome ping(const Deadline &deadline) override;
  Outcome list(const std::function<void(const EntryName &)> &each, const std::function<Deadline()> &deadline) override;
  void disownSockets() override;

private:
  enum class Method { Get, Put, Head };
  struct Body;
  Outcome ask(Method method, const EntryName &name, Body &body, const Deadline &deadline);

  Address address;
  Secrets secrets;
  std::unique_ptr<Transfer> transfer; ///< null while there is no connection
};

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_HTTP_H
