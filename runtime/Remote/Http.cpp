//===- Http.cpp - Entries as HTTP resources -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A lease is an object whose name includes a time span of the server's clock, so it never has to be deleted or checked
// for its age. The host that creates the object holds the lease.
//
//===----------------------------------------------------------------------===//
#include "Remote/Http.h"

#include "Remote/Entry.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <ctime>
#include <thread>
#include <unordered_set>

namespace quern::remote {

/// The body of a request and of its response.
struct HttpConnection::Body {
  std::string_view outgoing; ///< the complete body of the request
  size_t taken = 0;          ///< bytes of it that have been sent
  std::string incoming;
  bool isTooLong = false;
  long status = 0;
  time_t date = -1; ///< time of the server's Date header; -1 if it sent none

  static size_t read(char *to, size_t size, size_t count, void *self) noexcept {
    auto *body = static_cast<Body *>(self);
    const size_t next = std::min(size * count, body->outgoing.size() - body->taken);
    std::memcpy(to, body->outgoing.data() + body->taken, next);
    body->taken += next;
    return next;
  }
  /// Rewinds the body, if the server closed an old connection and it must be sent again.
  static int seek(void *self, curl_off_t offset, int origin) noexcept {
    auto *body = static_cast<Body *>(self);
    if (origin != SEEK_SET || offset < 0 || static_cast<size_t>(offset) > body->outgoing.size())
      return CURL_SEEKFUNC_FAIL;
    body->taken = static_cast<size_t>(offset);
    return CURL_SEEKFUNC_OK;
  }
  static size_t write(char *from, size_t size, size_t count, void *self) noexcept {
    auto *body = static_cast<Body *>(self);
    body->isTooLong = body->isTooLong || body->incoming.size() + size * count > maxEntryBytes;
    try {
      if (!body->isTooLong)
        body->incoming.append(from, size * count);
      return body->isTooLong ? 0 : size * count; // a smaller count aborts the transfer
    } catch (...) {
      return 0;
    }
  }
  static size_t readHeader(char *from, size_t size, size_t count, void *self) noexcept {
    constexpr std::string_view name = "date:";
    const std::string_view line(from, size * count);
    char text[64] = "";
    if (line.size() > name.size() && line.size() < sizeof text &&
        strncasecmp(line.data(), name.data(), name.size()) == 0) {
      line.copy(text, line.size());
      static_cast<Body *>(self)->date = curl_getdate(text + name.size(), nullptr);
    }
    return size * count;
  }
};

namespace {

constexpr long statusOk = 200, statusCreated = 201, statusNoContent = 204, statusNotFound = 404, statusConflict = 409,
               statusGone = 410, statusPreconditionFailed = 412, statusTooLarge = 413, statusInsufficientStorage = 507;

/// Limits of the wait before a lease object is read back that another host may overwrite. The wait must exceed the time
/// that the other host needs between its read and its write, estimated as a few times the duration of the write here.
constexpr int64_t minSettleNs = 20 * nsPerMs, maxSettleNs = 200 * nsPerMs, settleTimes = 4;

/// Header lines of a request.
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
  return {isFull ? Outcome::Full : Outcome::Failed, concat("the server responded with status ", status)};
}

} // namespace

Outcome HttpConnection::ask(Method method, std::string_view name, Body &body, const Deadline &deadline) {
  if (!transfer)
    transfer = Transfer::make(address);
  if (!transfer)
    return {Outcome::Failed, "no connection can be created: a file, a library or memory is missing"};
  CURL *easy = transfer->handle();
  HeaderList headers;
  headers.add("Expect:"); // disables "100 Continue", which is slower for small bodies
  headers.add("Content-Type: application/octet-stream");
  if (method == Method::Create)
    headers.add("If-None-Match: *");
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
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Body::readHeader);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &body);
  curl_easy_setopt(easy, CURLOPT_NOBODY, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  if (method == Method::Put || method == Method::Create) {
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(body.outgoing.size()));
  }
  if (method == Method::Head)
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  sent += body.outgoing.size();
  Outcome outcome = transfer->perform(deadline);
  received += body.incoming.size();
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, nullptr);
  (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &body.status);
  if (body.date >= 0) {
    serverAheadSeconds = body.date - nowNs() / nsPerSecond;
    hasServerTime = true;
  }
  if (body.isTooLong)
    outcome = {Outcome::Failed, "the server's response is too long"};
  if (outcome.kind != Outcome::Done)
    transfer.reset();
  return outcome.kind == Outcome::Done ? outcomeOfStatus(body.status) : outcome;
}

Outcome HttpConnection::get(const EntryName &name, std::string &bytes, const Deadline &deadline) {
  Body body;
  Outcome outcome = ask(Method::Get, name, body, deadline);
  if (outcome.kind == Outcome::Done)
    bytes = std::move(body.incoming);
  return outcome;
}

/// The duration is unused: the server decides how long it keeps entries, and entries contain their expiry.
Outcome HttpConnection::put(const EntryName &name, std::string_view bytes, int64_t, const Deadline &deadline) {
  Body body;
  body.outgoing = bytes;
  Outcome outcome = ask(Method::Put, name, body, deadline);
  return outcome.kind == Outcome::Missing ? Outcome{Outcome::Failed, "the server does not store entries there (404)"}
                                          : outcome;
}

Outcome HttpConnection::contains(const EntryName &name, const Deadline &deadline) {
  Body body;
  return ask(Method::Head, name, body, deadline);
}

int64_t HttpConnection::serverSeconds() const {
  return hasServerTime ? serverAheadSeconds + nowNs() / nsPerSecond : static_cast<int64_t>(time(nullptr));
}

Outcome HttpConnection::lease(const EntryName &name, int which, Lease &lease, const Deadlines &deadlines) {
  const int64_t span = serverSeconds() * 1000 / lease.milliseconds;
  const auto nameIn = [&](int64_t number) { return nameOfEntry(concat(leaseText, name, ' ', which, ' ', number)); };
  const auto isHeld = [](const Outcome &read) {
    return read.kind == Outcome::Done ? Outcome{Outcome::Missing, ""} : read;
  };
  for (const int64_t number : {span - 1, span})
    if (Outcome read = get(nameIn(number), lease.held, deadlines()); read.kind != Outcome::Missing)
      return isHeld(read);
  Body body;
  body.outgoing = lease.own;
  const int64_t start = nowNs();
  Outcome put = ask(Method::Create, nameIn(span), body, deadlines());
  const bool wasThere =
      body.status == statusPreconditionFailed || body.status == statusConflict || body.status == statusNoContent;
  if (put.kind == Outcome::Missing)
    return {Outcome::Failed, "the server does not store entries there (404)"};
  if (!wasThere && (put.kind != Outcome::Done || body.status == statusCreated))
    return put;
  if (!wasThere) // the status does not say whether the object existed: the last writer has the lease
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(std::clamp(settleTimes * (nowNs() - start), minSettleNs, maxSettleNs)));
  Outcome read = get(nameIn(span), lease.held, deadlines());
  if (read.kind == Outcome::Done && !wasThere && lease.held == lease.own)
    return {};
  return isHeld(read);
}

/// Reads the server's listing of the folder in any format, such as the page of nginx with autoindex: each word in it
/// that is an entry's name counts.
Outcome HttpConnection::list(const std::function<void(const EntryName &)> &each, const Deadlines &deadlines) {
  Body body;
  Outcome outcome = ask(Method::Get, "", body, deadlines());
  if (outcome.kind == Outcome::Missing || (outcome.kind == Outcome::Failed && body.status != 0))
    return {Outcome::Unsupported,
            concat("the server does not list ", address.base, "/ac/ (status ", body.status,
                   "); enable a listing, such as nginx's autoindex, or pass the problems in a file")};
  if (outcome.kind != Outcome::Done)
    return outcome;
  std::unordered_set<EntryName> listed;
  const std::string_view text = body.incoming;
  const auto isInWord = [](char character) { return std::isalnum(static_cast<unsigned char>(character)) != 0; };
  for (size_t start = 0, end = 0; start < text.size(); start = end + 1) {
    end = start;
    while (end < text.size() && isInWord(text[end]))
      ++end;
    if (EntryName name(text.substr(start, end - start)); isEntryName(name) && listed.insert(name).second)
      each(name);
  }
  return {};
}

} // namespace quern::remote
