//===- Http.cpp - Entries as resources ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Http.h"

#include "Remote/Entry.h"

#include <cstring>

namespace quern::remote {

/// What is sent, and what comes.
struct HttpConnection::Body {
  std::string_view outgoing; ///< all of it
  size_t taken = 0;          ///< of that
  std::string incoming;
  bool isTooLong = false;

  static size_t read(char *to, size_t size, size_t count, void *self) noexcept {
    auto *body = static_cast<Body *>(self);
    const size_t next = std::min(size * count, body->outgoing.size() - body->taken);
    std::memcpy(to, body->outgoing.data() + body->taken, next);
    body->taken += next;
    return next;
  }
  /// To send it again over another connection, where the server has closed an old one.
  static int seek(void *self, curl_off_t offset, int origin) noexcept {
    auto *body = static_cast<Body *>(self);
    if (origin != SEEK_SET || offset < 0 || static_cast<size_t>(offset) > body->outgoing.size())
      return CURL_SEEKFUNC_FAIL;
    body->taken = static_cast<size_t>(offset);
    return CURL_SEEKFUNC_OK;
  }
  static size_t write(char *from, size_t size, size_t count, void *self) noexcept {
    auto *body = static_cast<Body *>(self);
    body->isTooLong = body->isTooLong || body->incoming.size() + size * count > mostEntryBytes;
    try {
      if (!body->isTooLong)
        body->incoming.append(from, size * count);
      return body->isTooLong ? 0 : size * count; // less than all ends the transfer
    } catch (...) {
      return 0;
    }
  }
};

namespace {

constexpr long statusOk = 200, statusNoContent = 204, statusNotFound = 404, statusGone = 410, statusTooLarge = 413,
               statusInsufficientStorage = 507;

/// Lines of a request.
class HeaderList {
public:
  HeaderList() = default;
  HeaderList(const HeaderList &) = delete;
  HeaderList &operator=(const HeaderList &) = delete;
  ~HeaderList() { curl_slist_free_all(list); }
  void add(const std::string &line) {
    if (curl_slist *longer = curl_slist_append(list, line.c_str()))
      list = longer;
  }
  curl_slist *get() const { return list; }

private:
  curl_slist *list = nullptr;
};

Outcome outcomeOfStatus(long status) {
  if (status >= statusOk && status <= statusNoContent)
    return {};
  if (status == statusNotFound || status == statusGone)
    return {Outcome::Missing, ""};
  const bool isFull = status == statusInsufficientStorage || status == statusTooLarge;
  return {isFull ? Outcome::Full : Outcome::Failed, concat("the server answers with status ", status)};
}

} // namespace

Outcome HttpConnection::ask(Method method, const EntryName &name, Body &body, const Deadline &deadline) {
  if (!transfer)
    transfer = Transfer::make(address);
  if (!transfer)
    return {Outcome::Failed, "no connection can be made: a file or library is missing, or memory"};
  CURL *easy = transfer->handle();
  HeaderList headers;
  headers.add("Expect:"); // a body of some KiB needs no asking before
  headers.add("Content-Type: application/octet-stream");
  if (!secrets.token.empty())
    headers.add("Authorization: Bearer " + secrets.token);
  const std::string place = concat(address.base, "/ac/", name);
  curl_easy_setopt(easy, CURLOPT_URL, place.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, &Body::read);
  curl_easy_setopt(easy, CURLOPT_READDATA, &body);
  curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, &Body::seek);
  curl_easy_setopt(easy, CURLOPT_SEEKDATA, &body);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Body::write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_NOBODY, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  if (method == Method::Put) {
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(body.outgoing.size()));
  }
  if (method == Method::Head)
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  sent += body.outgoing.size();
  Outcome outcome = transfer->perform(deadline);
  received += body.incoming.size();
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, nullptr);
  long status = 0;
  (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (body.isTooLong)
    outcome = {Outcome::Failed, "the server's answer is too long"};
  if (outcome.kind != Outcome::Done)
    transfer.reset();
  return outcome.kind == Outcome::Done ? outcomeOfStatus(status) : outcome;
}

Outcome HttpConnection::get(const EntryName &name, std::string &bytes, const Deadline &deadline) {
  Body body;
  Outcome outcome = ask(Method::Get, name, body, deadline);
  if (outcome.kind == Outcome::Done)
    bytes = std::move(body.incoming);
  return outcome;
}

/// How long entries are kept is the server's business; they say themselves how long they hold.
Outcome HttpConnection::put(const EntryName &name, std::string_view bytes, int64_t, const Deadline &deadline) {
  Body body;
  body.outgoing = bytes;
  Outcome outcome = ask(Method::Put, name, body, deadline);
  return outcome.kind == Outcome::Missing ? Outcome{Outcome::Failed, "the server has no place for entries (404)"}
                                          : outcome;
}

Outcome HttpConnection::contains(const EntryName &name, const Deadline &deadline) {
  Body body;
  return ask(Method::Head, name, body, deadline);
}

Outcome HttpConnection::lease(const EntryName &, int64_t, const Deadline &) { return {Outcome::Unsupported, ""}; }

Outcome HttpConnection::ping(const Deadline &deadline) {
  const Outcome outcome = contains(EntryName(64, '0'), deadline);
  return outcome.isAnswer() ? Outcome{} : outcome;
}

Outcome HttpConnection::list(const std::function<void(const EntryName &)> &, const std::function<Deadline()> &) {
  return {Outcome::Unsupported, "HTTP has no listing of what a server keeps; give the problems"};
}

void HttpConnection::disownSockets() {
  if (transfer)
    transfer->disownSockets();
}

} // namespace quern::remote
