//===- RemoteHttpFuzzer.cpp - Answers of an HTTP server ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The input is everything that a server sends, including the status line. The client must return an answer that is
// within the size limit, or fail, soon after its deadline at the latest.
//
//===----------------------------------------------------------------------===//
#include "Remote/Entry.h"
#include "Remote/Http.h"

#include <cstdlib>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace quern;
using namespace quern::remote;

namespace {

constexpr int64_t deadlineNs = 50'000'000, bitLaterNs = 1'000'000'000;

/// Listens on a free port and stores its number in `port`.
int listenSomewhere(uint16_t &port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr *>(&address), size) != 0 || ::listen(fd, 16) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size) != 0)
    std::abort();
  port = ntohs(address.sin_port);
  return fd;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint16_t port = 0;
  static const int listener = (prepareTransfers(), listenSomewhere(port));
  const auto answer = [&] {
    const int fd = ::accept(listener, nullptr, nullptr);
    char request[4096];
    (void)!::read(fd, request, sizeof request);
    (void)!::send(fd, data, size, MSG_NOSIGNAL);
    ::close(fd);
  };
  std::thread server(answer);
  Address address;
  address.protocol = Address::Protocol::Http;
  address.base = concat("http://127.0.0.1:", port);
  std::string bytes;
  const int64_t start = nowNs();
  const Outcome outcome = HttpConnection(address, {}).get(EntryName(64, '0'), bytes, Deadline(deadlineNs));
  server.join();
  if (bytes.size() > maxEntryBytes || nowNs() - start > deadlineNs + bitLaterNs ||
      (outcome.kind != Outcome::Done && !bytes.empty()))
    std::abort();
  std::thread again(answer); // the same input as a listing
  (void)HttpConnection(address, {})
      .list(
          [](const EntryName &name) {
            if (!isEntryName(name))
              std::abort();
          },
          [] { return Deadline(deadlineNs); });
  again.join();
  return 0;
}
