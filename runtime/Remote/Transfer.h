//===- Transfer.h - libcurl within a deadline --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Name look-up, sockets, TLS and HTTP are libcurl's; Redis uses a connection of it as a plain stream.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_TRANSFER_H
#define QUERN_RUNTIME_REMOTE_TRANSFER_H

#include "Remote/Connection.h"
#include "Support/KeptDescriptor.h"

#include <curl/curl.h>
#include <vector>

namespace quern::remote {

/// Before any transfer, once in a process.
void prepareTransfers();

class Transfer {
public:
  /// Options that hold for all that it will do. Null where there is no memory.
  static std::unique_ptr<Transfer> make(const Address &address);
  ~Transfer();
  Transfer(const Transfer &) = delete;
  Transfer &operator=(const Transfer &) = delete;

  CURL *handle() const { return easy; }
  /// What the handle is set to do, over a connection that is kept.
  Outcome perform(const Deadline &deadline);

  /// Of a handle with CURLOPT_CONNECT_ONLY that has been performed.
  Outcome send(std::string_view bytes, const Deadline &deadline);
  /// Some bytes, at least one.
  Outcome receive(std::string &bytes, const Deadline &deadline);

  void disownSockets();
  /// Returns true if the program has closed none of the sockets, so that no number stands for a file of the program.
  bool isIntact() const;

private:
  struct Socket {
    curl_socket_t number;
    FileIdentity identity;
    bool isOurs() const { return FileIdentity::of(number) == identity; }
  };
  Transfer() = default;
  Outcome waitFor(short events, const Deadline &deadline) const;
  Outcome outcomeOf(CURLcode code) const;
  static curl_socket_t openSocket(void *self, curlsocktype purpose, curl_sockaddr *address);
  static int closeSocket(void *self, curl_socket_t socket);

  CURLM *multi = nullptr;
  CURL *easy = nullptr;
  bool isAdded = false;
  std::vector<Socket> sockets;
  char message[CURL_ERROR_SIZE] = "";
};

/// What both protocols have: whom they speak to, and over what.
class TransferConnection : public Connection {
public:
  TransferConnection(const Address &address, const Secrets &secrets) : address(address), secrets(secrets) {}
  void disownSockets() override {
    if (transfer)
      transfer->disownSockets();
  }
  bool isIntact() const override { return !transfer || transfer->isIntact(); }

protected:
  Address address;
  Secrets secrets;
  std::unique_ptr<Transfer> transfer; ///< null while there is no connection
};

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_TRANSFER_H
