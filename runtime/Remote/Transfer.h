//===- Transfer.h - libcurl with deadlines --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// libcurl resolves names and implements sockets, TLS and HTTP. Redis uses a libcurl connection as a byte stream.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_TRANSFER_H
#define QUERN_RUNTIME_REMOTE_TRANSFER_H

#include "Remote/Connection.h"
#include "Support/KeptDescriptor.h"

#include <curl/curl.h>
#include <vector>

namespace quern::remote {

/// Initializes libcurl. Must be called once per process, before any transfer.
void prepareTransfers();

class Transfer {
public:
  /// Sets the options that are the same for all transfers. Returns null if there is no memory or libcurl rejects an
  /// option.
  static std::unique_ptr<Transfer> make(const Address &address);
  ~Transfer();
  Transfer(const Transfer &) = delete;
  Transfer &operator=(const Transfer &) = delete;

  CURL *handle() const { return easy; }
  /// Performs the transfer that the handle's options describe, reusing a connection.
  Outcome perform(const Deadline &deadline);

  /// Sends bytes. The handle must have CURLOPT_CONNECT_ONLY and have been performed.
  Outcome send(std::string_view bytes, const Deadline &deadline);
  /// Receives at least one byte.
  Outcome receive(std::string &bytes, const Deadline &deadline);

  void disownSockets();
  /// Returns true if the program has closed none of the sockets; their numbers could otherwise be files of the program.
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

/// Common base of the protocols: the address, the secrets and the transfer.
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
