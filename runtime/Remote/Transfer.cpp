//===- Transfer.cpp - libcurl with deadlines ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Transfer.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

namespace quern::remote {
namespace {

constexpr size_t pieceBytes = 64u << 10;

/// Blocks SIGPIPE for this thread during the scope, so that a write to a closed connection is only an error, also if a
/// TLS library writes.
class NoPipeSignal {
public:
  NoPipeSignal() {
    sigset_t pending;
    sigemptyset(&pending);
    (void)sigpending(&pending);
    wasPending = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
  }
  NoPipeSignal(const NoPipeSignal &) = delete;
  NoPipeSignal &operator=(const NoPipeSignal &) = delete;
  ~NoPipeSignal() {
    const timespec now{};
    while (!wasPending && sigtimedwait(&pipe, nullptr, &now) < 0 && errno == EINTR) {}
    (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t pipe, before;
  bool wasPending;
};

Outcome overOutcome(const Deadline &deadline) {
  return deadline.isCut() ? Outcome{Outcome::Cut, "interrupted"} : Outcome{Outcome::Late, "no response in time"};
}

} // namespace

void prepareTransfers() { (void)curl_global_init(CURL_GLOBAL_DEFAULT); }

std::unique_ptr<Transfer> Transfer::make(const Address &address) {
  std::unique_ptr<Transfer> transfer(new Transfer);
  transfer->multi = curl_multi_init();
  transfer->easy = curl_easy_init();
  CURL *easy = transfer->easy;
  if (!easy || !transfer->multi)
    return nullptr;
  bool isSet = true;
  const auto set = [&](CURLoption option, auto value) {
    isSet = isSet && curl_easy_setopt(easy, option, value) == CURLE_OK;
  };
  set(CURLOPT_ERRORBUFFER, transfer->message);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L); // do not wait for libcurl's thread that resolves names
  set(CURLOPT_PROXY, "");      // ignore proxy variables, which are meant for interactive programs
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::openSocket);
  set(CURLOPT_OPENSOCKETDATA, transfer.get());
  set(CURLOPT_CLOSESOCKETFUNCTION, &Transfer::closeSocket);
  set(CURLOPT_CLOSESOCKETDATA, transfer.get());
  if (!address.caFile.empty())
    set(CURLOPT_CAINFO, address.caFile.c_str());
  if (!address.socket.empty())
    set(CURLOPT_UNIX_SOCKET_PATH, address.socket.c_str());
  return isSet ? std::move(transfer) : nullptr;
}

Transfer::~Transfer() {
  const NoPipeSignal noSignal;
  if (isAdded)
    (void)curl_multi_remove_handle(multi, easy);
  if (easy)
    curl_easy_cleanup(easy);
  if (multi)
    (void)curl_multi_cleanup(multi);
}

curl_socket_t Transfer::openSocket(void *self, curlsocktype, curl_sockaddr *address) {
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd < 0)
    return CURL_SOCKET_BAD;
  try {
    static_cast<Transfer *>(self)->sockets.push_back({fd, FileIdentity::of(fd)});
  } catch (...) {
    (void)::close(fd);
    return CURL_SOCKET_BAD;
  }
  return fd;
}

int Transfer::closeSocket(void *self, curl_socket_t socket) {
  std::vector<Socket> &sockets = static_cast<Transfer *>(self)->sockets;
  const auto known =
      std::find_if(sockets.begin(), sockets.end(), [&](const Socket &one) { return one.number == socket; });
  const bool isOurs = known != sockets.end() && known->isOurs();
  if (known != sockets.end())
    sockets.erase(known);
  return isOurs ? ::close(socket) : 0;
}

bool Transfer::isIntact() const {
  return std::all_of(sockets.begin(), sockets.end(), [](const Socket &socket) { return socket.isOurs(); });
}

void Transfer::disownSockets() {
  // Redirects bytes that cleanup may write, such as TLS closing messages.
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (Socket &socket : sockets) {
    if (!socket.isOurs())
      continue;
    if (nowhere < 0 || ::dup3(nowhere, socket.number, O_CLOEXEC) < 0)
      (void)::close(socket.number);
    socket.identity = FileIdentity::of(socket.number);
  }
  if (nowhere >= 0)
    (void)::close(nowhere);
}

Outcome Transfer::outcomeOf(CURLcode code) const {
  if (code == CURLE_OK)
    return {};
  return {Outcome::Failed, message[0] ? message : curl_easy_strerror(code)};
}

Outcome Transfer::perform(const Deadline &deadline) {
  const NoPipeSignal noSignal;
  if (isAdded)
    (void)curl_multi_remove_handle(multi, easy);
  isAdded = false;
  message[0] = '\0';
  if (curl_multi_add_handle(multi, easy) != CURLM_OK)
    return {Outcome::Failed, "libcurl rejected the transfer"};
  isAdded = true;
  for (;;) {
    int running = 0, left = 0;
    if (curl_multi_perform(multi, &running) != CURLM_OK)
      return {Outcome::Failed, "libcurl failed"};
    while (const CURLMsg *done = curl_multi_info_read(multi, &left))
      if (done->msg == CURLMSG_DONE)
        return outcomeOf(done->data.result);
    if (deadline.isOver())
      return overOutcome(deadline);
    if (curl_multi_poll(multi, nullptr, 0, deadline.pollMs(), nullptr) != CURLM_OK)
      return {Outcome::Failed, "libcurl cannot wait"};
  }
}

Outcome Transfer::waitFor(short events, const Deadline &deadline) const {
  curl_socket_t socket = CURL_SOCKET_BAD;
  if (curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK || socket == CURL_SOCKET_BAD)
    return {Outcome::Failed, "the connection was closed"};
  while (!deadline.isOver()) {
    pollfd waited{socket, events, 0};
    const int count = ::poll(&waited, 1, deadline.pollMs());
    if (count > 0)
      return {};
    if (count < 0 && errno != EINTR)
      return {Outcome::Failed, std::strerror(errno)};
  }
  return overOutcome(deadline);
}

Outcome Transfer::send(std::string_view bytes, const Deadline &deadline) {
  const NoPipeSignal noSignal;
  while (!bytes.empty()) {
    size_t count = 0;
    const CURLcode code = curl_easy_send(easy, bytes.data(), bytes.size(), &count);
    if (code != CURLE_OK && code != CURLE_AGAIN)
      return outcomeOf(code);
    bytes.remove_prefix(count);
    if (code == CURLE_AGAIN)
      if (Outcome waited = waitFor(POLLOUT, deadline); waited.kind != Outcome::Done)
        return waited;
  }
  return {};
}

Outcome Transfer::receive(std::string &bytes, const Deadline &deadline) {
  bytes.resize(pieceBytes);
  for (;;) {
    size_t count = 0;
    const CURLcode code = curl_easy_recv(easy, bytes.data(), bytes.size(), &count);
    bytes.resize(code == CURLE_OK ? count : pieceBytes);
    if (code == CURLE_OK)
      return count > 0 ? Outcome{} : Outcome{Outcome::Failed, "the server has closed the connection"};
    if (code != CURLE_AGAIN)
      return outcomeOf(code);
    if (Outcome waited = waitFor(POLLIN, deadline); waited.kind != Outcome::Done)
      return waited;
  }
}

} // namespace quern::remote
