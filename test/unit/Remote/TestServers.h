//===- TestServers.h - Servers and clients for remote cache tests ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_REMOTE_TESTSERVERS_H
#define QUERN_TEST_REMOTE_TESTSERVERS_H

#include "Artifact/Artifact.h"
#include "Remote/Client.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ; // NOLINT(readability-redundant-declaration): required by POSIX

namespace quern::remote::test {

/// A temporary folder with a pair of keys.
class Folder {
public:
  Folder() {
    std::string pattern = "/tmp/quern-remote-XXXXXX";
    path = ::mkdtemp(pattern.data());
    EXPECT_TRUE(prepareCryptography());
    EXPECT_TRUE(generateKeys(file("key")));
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char *name) const { return path + "/" + name; }

private:
  std::string path;
};

/// A Redis server on a Unix socket; its process ends with the object.
class RedisProcess {
public:
  explicit RedisProcess(const Folder &folder) : socket(folder.file("redis.sock")), folder(folder.file(".")) { start(); }
  RedisProcess(const RedisProcess &) = delete;
  RedisProcess &operator=(const RedisProcess &) = delete;
  ~RedisProcess() { stop(); }

  void start() {
    const std::string words[] = {"redis-server", "--unixsocket", socket,      "--port",       "0", "--save", "",
                                 "--dir",        folder,         "--logfile", folder + "/log"};
    std::vector<char *> arguments;
    for (const std::string &word : words)
      arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    ASSERT_EQ(posix_spawnp(&pid, words[0].c_str(), nullptr, nullptr, arguments.data(), environ), 0);
    for (int i = 0; i < 2000 && !answers(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_TRUE(answers());
  }
  void stop() {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    pid = 0;
  }
  std::string url() const { return "redis://" + socket; }
  /// Sends a line over a separate connection; returns the first bytes of the reply.
  std::string say(const std::string &line) const {
    const int fd = connected();
    EXPECT_EQ(::write(fd, line.data(), line.size()), static_cast<ssize_t>(line.size()));
    char reply[256];
    const ssize_t count = ::read(fd, reply, sizeof reply);
    ::close(fd);
    return {reply, static_cast<size_t>(std::max<ssize_t>(0, count))};
  }

private:
  /// Returns a connected socket; negative if no process listens.
  int connected() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0)
      return fd;
    ::close(fd);
    return -1;
  }
  bool answers() const {
    const int fd = connected();
    if (fd >= 0)
      ::close(fd);
    return fd >= 0;
  }
  std::string socket, folder;
  pid_t pid = 0;
};

/// Accepts connections and never replies.
class SilentServer {
public:
  SilentServer() : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr *>(&address), size), 0);
    EXPECT_EQ(::listen(fd, 64), 0);
    EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size), 0);
    port = ntohs(address.sin_port);
  }
  SilentServer(const SilentServer &) = delete;
  SilentServer &operator=(const SilentServer &) = delete;
  ~SilentServer() { ::close(fd); }
  std::string url(const char *scheme) const { return concat(scheme, "://127.0.0.1:", port); }

private:
  int fd;
  int port = 0;
};

inline Client &openClient(const Folder &folder, const std::string &servers, uint32_t milliseconds = 1000,
                          bool writes = true, void (*report)(void *, int, const char *) = nullptr,
                          void *context = nullptr) {
  const std::string key = folder.file("key"), publicKey = key + ".pub";
  Result<Client *> client = Client::open(
      {servers.c_str(), writes ? key.c_str() : "", publicKey.c_str(), "", "", milliseconds, report, context});
  EXPECT_TRUE(client) << client.error().message;
  return **client;
}

inline int no(void *) { return 0; }

/// Looks up an entry; waits at most `patience` ms for other compiling processes, and starts no compilation itself.
inline std::optional<std::string> get(Client &client, const StoredKey &key, uint32_t patience = 5000) {
  std::optional<SignedArtifact> found = client.get(key, {patience, no, no, nullptr});
  return found ? std::optional(std::move(found->bytes)) : std::nullopt;
}

inline StoredKey keyOf(int number) { return {concat("key ", number), "avx2", "build", concat("problem ", number)}; }

inline std::string artifactOf(int number) {
  Artifact artifact;
  artifact.descriptor = concat("problem ", number);
  artifact.target = "avx2";
  artifact.buildId = "build";
  artifact.keyBytes = concat("key ", number);
  artifact.codeKind = CodeKind::Function; // functions have no entries
  artifact.code = std::string(4096, static_cast<char>('a' + number % 20));
  return artifact.serialize();
}

} // namespace quern::remote::test

#endif // QUERN_TEST_REMOTE_TESTSERVERS_H
