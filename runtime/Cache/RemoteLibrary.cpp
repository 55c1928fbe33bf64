//===- RemoteLibrary.cpp - Loading libquern-remote on demand --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cache/RemoteLibrary.h"

#include "Support/LibraryApi.h"

#include <charconv>
#include <cstdlib>
#include <vector>

namespace quern {
namespace {

using TextSink = StringSink<quern_remote_sink>;

Result<const quern_remote_api *> openLibrary(const std::string &path) {
  return openApi<quern_remote_api>(path, "quern_remote_get_api", QUERN_REMOTE_API_VERSION,
                                   "a remote cache is configured, but its library", "libquern-remote",
                                   [](const quern_remote_api &) { return std::optional<Error>(); });
}

quern_remote_key keyFor(const RemoteKey &key) {
  return {key.bytes.data(), key.bytes.size(), key.target.c_str(), key.buildId.c_str(), key.descriptor.c_str()};
}

/// Converts the result of a query: true for success, false for a miss.
Result<bool> answerOf(int status, const TextSink &error) {
  if (status == static_cast<int>(Status::Success) && !error.failed)
    return true;
  if (status == quern_remote_miss)
    return false;
  return Error{error.failed ? Status::OutOfMemory : static_cast<Status>(status), error.text};
}

Result<std::optional<RemoteArtifact>> artifactOf(int status, TextSink &bytes, const quern_remote_origin &origin,
                                                 const TextSink &error) {
  QUERN_ASSIGN_OR_RETURN(bool answer, answerOf(status, error));
  if (bytes.failed)
    return Error{Status::OutOfMemory, "out of memory while receiving a kernel"};
  return answer ? std::optional(RemoteArtifact{std::move(bytes.text), origin}) : std::nullopt;
}

std::string variable(const char *name) {
  const char *text = secure_getenv(name);
  return text ? text : "";
}

/// Leaves `value` unchanged if the variable is not set.
Result<void> readMilliseconds(const char *name, uint32_t &value) {
  const std::string text = variable(name);
  const char *end = text.data() + text.size();
  if (text.empty())
    return {};
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value > RemoteConfig::maxMilliseconds)
    return invalidArguments(name, " is \"", text, "\"; it must be a number of milliseconds, at most ",
                            RemoteConfig::maxMilliseconds);
  return {};
}

} // namespace

Result<RemoteConfig> RemoteConfig::fromEnvironment() {
  RemoteConfig config{variable("QUERN_REMOTE_CACHE"), variable("QUERN_REMOTE_SIGNING_KEY"),
                      variable("QUERN_REMOTE_PUBLIC_KEYS"), variable("QUERN_REMOTE_PASSWORD_FILE"),
                      variable("QUERN_REMOTE_TOKEN_FILE")};
  for (const auto &[name, value] : {std::pair("QUERN_REMOTE_MS", &config.milliseconds),
                                    std::pair("QUERN_REMOTE_WAIT_MS", &config.waitMilliseconds)})
    QUERN_RETURN_IF_ERROR(readMilliseconds(name, *value));
  return config;
}

Result<std::unique_ptr<Remote>> Remote::open(const std::string &path, const RemoteConfig &config, Report report) {
  QUERN_ASSIGN_OR_RETURN(const quern_remote_api *api, openLibrary(path));
  const quern_remote_config given{config.servers.c_str(),
                                  config.signingKey.c_str(),
                                  config.publicKeys.c_str(),
                                  config.passwordFile.c_str(),
                                  config.tokenFile.c_str(),
                                  config.milliseconds,
                                  report,
                                  nullptr};
  TextSink error;
  quern_remote *remote = nullptr;
  QUERN_RETURN_IF_ERROR(answerOf(api->open(&given, &remote, &error.sink), error));
  return std::unique_ptr<Remote>(new Remote(api, remote));
}

Result<void> Remote::generateKeys(const std::string &libraryPath, const std::string &path) {
  QUERN_ASSIGN_OR_RETURN(const quern_remote_api *api, openLibrary(libraryPath));
  TextSink error;
  Result<bool> made = answerOf(api->generate_keys(path.c_str(), &error.sink), error);
  return made ? Result<void>() : Result<void>(made.takeError());
}

std::optional<RemoteArtifact> Remote::get(const RemoteKey &key, const quern_remote_waiter &waiter) {
  TextSink bytes;
  quern_remote_origin origin{};
  const quern_remote_key given = keyFor(key);
  const int status = api->get(remote, &given, &bytes.sink, &origin, &waiter);
  if (status != static_cast<int>(Status::Success) || bytes.failed)
    return std::nullopt;
  return RemoteArtifact{std::move(bytes.text), origin};
}

bool Remote::believes(const quern_remote_origin &origin) const { return api->believes(remote, &origin) != 0; }

void Remote::put(const RemoteKey &key, std::string_view artifact) {
  const quern_remote_key given = keyFor(key);
  api->put(remote, &given, artifact.data(), artifact.size());
}

bool Remote::canWrite() const { return api->can_write(remote) != 0; }

void Remote::flush(uint32_t milliseconds) { api->flush(remote, milliseconds); }

quern_remote_counters Remote::counters() const {
  quern_remote_counters counters{};
  api->counters(remote, &counters);
  return counters;
}

Result<bool> Remote::contains(const RemoteKey &key) {
  TextSink error;
  const quern_remote_key given = keyFor(key);
  return answerOf(api->contains(remote, &given, &error.sink), error);
}

Result<std::optional<RemoteArtifact>> Remote::fetch(const RemoteKey &key) {
  TextSink bytes, error;
  quern_remote_origin origin{};
  const quern_remote_key given = keyFor(key);
  const int status = api->fetch(remote, &given, &bytes.sink, &origin, &error.sink);
  return artifactOf(status, bytes, origin, error);
}

Result<std::optional<RemoteArtifact>> Remote::fetchNamed(const std::string &name) {
  TextSink bytes, error;
  quern_remote_origin origin{};
  const int status = api->fetch_named(remote, name.c_str(), &bytes.sink, &origin, &error.sink);
  return artifactOf(status, bytes, origin, error);
}

Result<void> Remote::store(const RemoteKey &key, std::string_view artifact) {
  TextSink error;
  const quern_remote_key given = keyFor(key);
  Result<bool> stored = answerOf(api->store(remote, &given, artifact.data(), artifact.size(), &error.sink), error);
  return stored ? Result<void>() : Result<void>(stored.takeError());
}

Result<void> Remote::list(const std::function<void(std::string_view name)> &each) {
  struct Names {
    std::vector<std::string> all;
    bool failed = false;
    static void write(void *context, const void *bytes, size_t size) noexcept {
      auto *self = static_cast<Names *>(context);
      try {
        self->all.emplace_back(static_cast<const char *>(bytes), size);
      } catch (...) {
        self->failed = true;
      }
    }
  } names;
  TextSink error;
  const quern_remote_sink sink{&Names::write, &names};
  QUERN_RETURN_IF_ERROR(answerOf(api->list(remote, &sink, &error.sink), error));
  if (names.failed)
    return Error{Status::OutOfMemory, "out of memory while listing entries"};
  for (const std::string &name : names.all)
    each(name);
  return {};
}

} // namespace quern
