//===- Address.cpp - Parsing the addresses of servers ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Address.h"

#include <algorithm>
#include <charconv>

namespace quern::remote {
namespace {

constexpr int maxDays = 3650, maxDatabases = 1 << 16;

/// Removes the text up to and including `separator` from `rest`; returns it without the separator.
std::string_view takePart(std::string_view &rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

Result<int> numberOf(std::string_view option, std::string_view text, int least, int most) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < least || number > most)
    return invalidArguments(option, "=", text, " must be ", least, " to ", most);
  return number;
}

Result<void> addOption(Address &address, std::string_view option) {
  std::string_view value = option;
  const std::string_view name = takePart(value, '=');
  const bool isRedis = address.protocol == Address::Protocol::Redis;
  if (option == "read-only" || option == "names") {
    (option == "names" ? address.hasNames : address.isReadOnly) = true;
    return {};
  }
  if (name == "days" || (name == "db" && isRedis)) {
    QUERN_ASSIGN_OR_RETURN(int number,
                           name == "days" ? numberOf(name, value, 1, maxDays) : numberOf(name, value, 0, maxDatabases));
    (name == "days" ? address.days : address.database) = number;
    return {};
  }
  std::string *file = name == "ca"                         ? &address.caFile
                      : name == "password-file" && isRedis ? &address.passwordFile
                      : name == "token-file" && !isRedis   ? &address.tokenFile
                                                           : nullptr;
  if (!file || value.empty())
    return invalidArguments(
        "the remote cache ", address.text, " has no option \"", option,
        "\": the options are read-only, names, days=N, ca=FILE, for Redis db=N and password-file=FILE, "
        "for HTTP token-file=FILE");
  *file = value;
  return {};
}

Result<void> readPlace(Address &address, std::string_view place) {
  if (place.find_first_of(" \t\r\n\"<>\\^`{}?#") != std::string_view::npos || place.empty())
    return invalidArguments("the remote cache ", address.text, " is not a valid address");
  if (address.protocol == Address::Protocol::Http) {
    if (place.find('@') != std::string_view::npos)
      return invalidArguments("the remote cache ", address.text, " has a user; it must use a token, token-file=FILE");
    address.base = address.text;
    while (address.base.back() == '/')
      address.base.pop_back();
    return {};
  }
  if (place[0] == '/') {
    if (address.isEncrypted)
      return invalidArguments("the remote cache ", address.text, " is a unix socket, which does not support TLS");
    address.socket = place;
    return {};
  }
  if (place.find('@') != std::string_view::npos)
    address.user = takePart(place, '@');
  if (address.user.find(':') != std::string::npos)
    return invalidArguments("a remote cache's address contains a password; it must be in a file, password-file=FILE");
  if (!place.empty() && place.back() == '/')
    place.remove_suffix(1);
  if (place.empty() || place.find('/') != std::string_view::npos)
    return invalidArguments("the remote cache ", address.text, " must be a host and a port; a database is db=N");
  const size_t colon = place.rfind(':');
  const bool hasPort = colon != std::string_view::npos && place.find(']', colon) == std::string_view::npos;
  address.host = hasPort ? std::string(place) : concat(place, ":6379");
  return {};
}

Result<Address> parseAddress(std::string_view rest) {
  Address address;
  std::string_view place = takePart(rest, ',');
  // The text before an @ may contain a password, which must not appear in messages.
  const size_t start = std::min(place.find("://"), place.size()), user = place.find('@');
  const bool hasSecret = user != std::string_view::npos && place.substr(0, user).find(':', start + 1) < user;
  address.text = hasSecret ? concat(place.substr(0, start), "://…") : std::string(place);
  struct Scheme {
    std::string_view prefix;
    Address::Protocol protocol;
    bool isEncrypted;
  };
  constexpr Scheme schemes[] = {{"redis://", Address::Protocol::Redis, false},
                                {"rediss://", Address::Protocol::Redis, true},
                                {"http://", Address::Protocol::Http, false},
                                {"https://", Address::Protocol::Http, true}};
  const auto *scheme = std::find_if(std::begin(schemes), std::end(schemes),
                                    [&](const Scheme &known) { return place.starts_with(known.prefix); });
  if (scheme == std::end(schemes))
    return invalidArguments("the remote cache ", address.text,
                            " must begin with redis://, rediss://, http:// or https://");
  address.protocol = scheme->protocol;
  address.isEncrypted = scheme->isEncrypted;
  Result<void> read = readPlace(address, place.substr(scheme->prefix.size()));
  while (read && !rest.empty())
    read = addOption(address, takePart(rest, ','));
  return read ? Result<Address>(std::move(address)) : Result<Address>(read.takeError());
}

} // namespace

Result<std::vector<Address>> parseAddresses(std::string_view text) {
  std::vector<Address> addresses;
  while (!text.empty()) {
    const std::string_view one = takePart(text, ';');
    if (one.empty())
      continue;
    QUERN_ASSIGN_OR_RETURN(Address address, parseAddress(one));
    addresses.push_back(std::move(address));
  }
  return addresses;
}

} // namespace quern::remote
