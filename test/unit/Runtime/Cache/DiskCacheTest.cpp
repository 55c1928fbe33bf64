//===- DiskCacheTest.cpp - The disk cache in good and hostile directories -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that damaged and foreign files are misses and are removed, that unsafe directories are refused, and that a full
// disk or a read-only directory fails without leaving files.
//
//===----------------------------------------------------------------------===//
#include "Cache/Disk.h"
#include "Runtime/TestArtifacts.h"
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace quern {
namespace {

namespace fs = std::filesystem;

struct Stored {
  KernelKey key;
  std::string bytes;
};

Stored makeStored(int64_t rows) {
  const PrimitiveDesc desc = *PrimitiveDesc::parse(test::lineOf(rows));
  const Target target;
  const VerifiedProblem problem = *verify(desc, target);
  return {keyOf(problem.desc, target), test::makeTestArtifact(problem, target).serialize()};
}

std::string pathOf(const DiskCache &cache, const KernelKey &key) {
  return cache.directory() + "/" + key.digest.hex() + ".qk";
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  chmod(path.c_str(), 0600);
}

size_t filesIn(const std::string &path) { return static_cast<size_t>(std::distance(fs::directory_iterator(path), {})); }

class DiskCacheTest : public testing::Test {
protected:
  test::TemporaryDirectory temporary;
  std::string directory = temporary.path + "/a/b/cache";
  DiskCache cache{directory};
  Stored stored = makeStored(4);
};

TEST_F(DiskCacheTest, StoresAndFinds) {
  EXPECT_FALSE(cache.lookup(stored.key));
  EXPECT_FALSE(fs::exists(directory)) << "a lookup creates nothing";
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  struct stat info;
  ASSERT_EQ(stat(directory.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  std::optional<DiskCache::Hit> hit = cache.lookup(stored.key);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->bytes, stored.bytes);
  EXPECT_EQ(hit->artifact.keyBytes, stored.key.bytes);
  EXPECT_EQ(cache.counters().hits, 1u);
  EXPECT_EQ(cache.counters().misses, 1u);
  EXPECT_EQ(filesIn(directory), 1u);
}

TEST_F(DiskCacheTest, ListsReadsVerifiesClears) {
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  const Stored other = makeStored(5);
  ASSERT_TRUE(cache.store(other.key, other.bytes));
  writeFile(directory + "/" + std::string(32, '0') + ".qk", "nonsense");
  writeFile(directory + "/notes.txt", "not ours");
  Result<std::vector<DiskCacheFile>> files = cache.list();
  ASSERT_TRUE(files);
  EXPECT_EQ(files->size(), 3u);
  EXPECT_EQ(cache.read(stored.key.digest.hex() + ".qk")->bytes, stored.bytes);
  EXPECT_FALSE(cache.read("../../etc/passwd"));
  EXPECT_FALSE(cache.read(std::string(32, 'f') + ".qk"));
  Result<std::vector<DiskCacheVerdict>> verdicts = cache.verify(/*removeBad=*/true);
  ASSERT_TRUE(verdicts);
  size_t bad = 0;
  for (const DiskCacheVerdict &verdict : *verdicts)
    bad += verdict.problem.empty() ? 0 : 1;
  EXPECT_EQ(bad, 1u);
  EXPECT_EQ(*cache.clear(), 2u);
  EXPECT_TRUE(fs::exists(directory + "/notes.txt"));
}

// Simulates a read-only mount, which would need privileges. Permissions do not apply to root, so root becomes another
// user here.
TEST_F(DiskCacheTest, ClearingReportsFilesThatItCannotRemove) {
  constexpr uid_t nobody = 65534;
  const uid_t user = geteuid();
  directory = temporary.path + "/cleared";
  DiskCache cache(directory);
  if (user == 0) {
    ASSERT_EQ(chmod(temporary.path.c_str(), 0755), 0);
    ASSERT_EQ(mkdir(directory.c_str(), 0700), 0);
    ASSERT_EQ(chown(directory.c_str(), nobody, static_cast<gid_t>(-1)), 0);
    ASSERT_EQ(seteuid(nobody), 0);
  }
  EXPECT_TRUE(cache.store(stored.key, stored.bytes));
  chmod(directory.c_str(), 0500);
  const Result<uint64_t> removed = cache.clear();
  EXPECT_FALSE(removed);
  if (!removed) {
    EXPECT_EQ(removed.error().status, Status::RuntimeError);
    EXPECT_EQ(removed.error().message, "1 file of " + directory + " could not be removed, 0 kernels were; " +
                                           stored.key.digest.hex() + ".qk: Permission denied");
  }
  chmod(directory.c_str(), 0700);
  EXPECT_EQ(*cache.clear(), 1u);
  if (user == 0) {
    EXPECT_EQ(seteuid(user), 0);
  }
}

TEST_F(DiskCacheTest, DamagedFilesAreMissesAndAreRemoved) {
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  const std::string path = pathOf(cache, stored.key);
  std::vector<std::string> damaged = {"", "x", stored.bytes + "x", std::string(4096, '\0'), makeStored(9).bytes};
  for (size_t size = 1; size < stored.bytes.size(); size += 97)
    damaged.push_back(stored.bytes.substr(0, size));
  for (size_t place = 0; place < stored.bytes.size(); place += 61) {
    damaged.push_back(stored.bytes);
    damaged.back()[place] ^= 0x10;
  }
  for (const std::string &bytes : damaged) {
    writeFile(path, bytes);
    EXPECT_FALSE(cache.lookup(stored.key));
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_EQ(cache.counters().rejected, damaged.size());
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  EXPECT_TRUE(cache.lookup(stored.key));
}

TEST_F(DiskCacheTest, UnsafeFilesAreMisses) {
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  const std::string path = pathOf(cache, stored.key), elsewhere = temporary.path + "/elsewhere";
  chmod(path.c_str(), 0666);
  EXPECT_FALSE(cache.lookup(stored.key)) << "the file is writable by others";
  writeFile(elsewhere, stored.bytes);
  ASSERT_EQ(symlink(elsewhere.c_str(), path.c_str()), 0);
  EXPECT_FALSE(cache.lookup(stored.key)) << "a symbolic link";
  EXPECT_EQ(readFile(elsewhere), stored.bytes) << "the target of the link must not change";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(cache.lookup(stored.key)) << "a fifo must not block";
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  EXPECT_FALSE(cache.lookup(stored.key)) << "a directory";
  EXPECT_FALSE(cache.store(stored.key, stored.bytes));
  EXPECT_EQ(filesIn(directory), 1u) << "no temporary file may remain";
}

TEST_F(DiskCacheTest, RefusesUnsafeDirectories) {
  fs::create_directories(directory);
  for (mode_t mode : {0777, 0770, 0702}) {
    chmod(directory.c_str(), mode);
    EXPECT_FALSE(cache.check()) << std::oct << mode;
    EXPECT_FALSE(cache.store(stored.key, stored.bytes));
    EXPECT_EQ(filesIn(directory), 0u);
  }
  chmod(directory.c_str(), 0755);
  EXPECT_TRUE(cache.check());
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  chmod(directory.c_str(), 0777);
  EXPECT_FALSE(cache.lookup(stored.key)) << "the directory became writable by others";
  chmod(directory.c_str(), 0755);
  EXPECT_TRUE(cache.lookup(stored.key));

  const std::string link = temporary.path + "/link";
  ASSERT_EQ(symlink(directory.c_str(), link.c_str()), 0);
  for (const std::string &path : {link, link + "/"}) {
    DiskCache linked(path);
    Result<void> checked = linked.check();
    ASSERT_FALSE(checked);
    EXPECT_NE(checked.error().message.find("symbolic link"), std::string::npos) << checked.error().message;
  }
  writeFile(temporary.path + "/file", "");
  EXPECT_FALSE(DiskCache(temporary.path + "/file").check());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(directory.c_str(), 12345, 12345), 0);
    DiskCache foreign(directory);
    ASSERT_FALSE(foreign.check());
    EXPECT_NE(foreign.check().error().message.find("12345"), std::string::npos);
    ASSERT_EQ(chown(directory.c_str(), 0, 0), 0);
  }
}

TEST_F(DiskCacheTest, SurvivesARemovedDirectory) {
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  fs::remove_all(directory);
  EXPECT_FALSE(cache.lookup(stored.key));
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  EXPECT_TRUE(cache.lookup(stored.key));
}

TEST_F(DiskCacheTest, EvictsLeastRecentlyUsed) {
  std::vector<Stored> all;
  for (int64_t rows = 1; rows <= 6; ++rows)
    all.push_back(makeStored(rows));
  cache.setCapacity(all[0].bytes.size() * 4 + 100);
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(cache.store(all[i].key, all[i].bytes));
    const timespec used{time(nullptr) - 3600 * (10 - static_cast<time_t>(i)), 0}, hoursAgo[2] = {used, used};
    ASSERT_EQ(utimensat(AT_FDCWD, pathOf(cache, all[i].key).c_str(), hoursAgo, 0), 0);
  }
  EXPECT_TRUE(cache.lookup(all[0].key)) << "the lookup makes the kernel recently used";
  ASSERT_TRUE(cache.store(all[4].key, all[4].bytes));
  EXPECT_TRUE(fs::exists(pathOf(cache, all[0].key)));
  EXPECT_FALSE(fs::exists(pathOf(cache, all[1].key)));
  EXPECT_TRUE(fs::exists(pathOf(cache, all[4].key)));
  EXPECT_GE(cache.counters().evictions, 1u);
  uint64_t total = 0;
  Result<std::vector<DiskCacheFile>> files = cache.list();
  ASSERT_TRUE(files);
  for (const DiskCacheFile &file : *files)
    total += file.bytes;
  EXPECT_LE(total, all[0].bytes.size() * 4 + 100);
}

TEST_F(DiskCacheTest, RemovesStaleTemporaryFiles) {
  fs::create_directories(directory);
  chmod(directory.c_str(), 0700);
  writeFile(directory + "/.tmp-1-old", "half a file");
  writeFile(directory + "/.tmp-2-new", "another process's");
  const timespec hoursAgo[2] = {{time(nullptr) - 7200, 0}, {time(nullptr) - 7200, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, (directory + "/.tmp-1-old").c_str(), hoursAgo, 0), 0);
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  EXPECT_FALSE(fs::exists(directory + "/.tmp-1-old"));
  EXPECT_TRUE(fs::exists(directory + "/.tmp-2-new"));
}

/// Runs `body` in a child process, so that limits and the user id do not affect the parent; returns its result.
template <typename Body> bool inChild(Body body) {
  const pid_t child = fork();
  if (child == 0)
    _exit(body() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(DiskCacheTest, FullDiskLeavesNothing) {
  EXPECT_TRUE(inChild([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{512, 512}; // like on a full disk, a write stops midway
    setrlimit(RLIMIT_FSIZE, &limit);
    return !cache.store(stored.key, stored.bytes) && cache.counters().storeFailures == 1 && filesIn(directory) == 0;
  }));
}

/// A lack of resources does not mean that a file is bad; other processes may use it.
TEST_F(DiskCacheTest, UnreadableFilesAreNotRemoved) {
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  const std::string path = pathOf(cache, stored.key);
  EXPECT_TRUE(inChild([&] { // EMFILE
    const rlimit limit{64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0) {}
    const bool isMiss = !cache.lookup(stored.key);
    const Result<std::vector<DiskCacheVerdict>> verdicts = cache.verify(/*removeBad=*/true);
    return isMiss && cache.counters().rejected == 0 && !verdicts;
  }));
  EXPECT_TRUE(fs::exists(path));
  EXPECT_TRUE(inChild([&] { // EACCES
    if (geteuid() == 0) {
      for (const std::string &owned : {temporary.path, temporary.path + "/a", temporary.path + "/a/b", directory, path})
        if (chown(owned.c_str(), 12345, 12345) != 0)
          return false;
      if (setgid(12345) != 0 || setuid(12345) != 0)
        return false;
    }
    chmod(path.c_str(), 0);
    DiskCache fresh(directory);
    const bool isMiss = !fresh.lookup(stored.key);
    const Result<std::vector<DiskCacheVerdict>> verdicts = fresh.verify(/*removeBad=*/true);
    chmod(path.c_str(), 0600);
    return isMiss && fresh.counters().rejected == 0 && verdicts && verdicts->size() == 1 &&
           !verdicts->front().removed && fresh.lookup(stored.key).has_value();
  }));
  EXPECT_TRUE(fs::exists(path));
}

/// Daemons close all descriptors, and files that they open later get the same numbers.
TEST_F(DiskCacheTest, ADescriptorOfTheProgramIsNotUsed) {
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  const std::string unrelated = temporary.path + "/own";
  ASSERT_EQ(mkdir(unrelated.c_str(), 0700), 0);
  const Stored other = makeStored(8);
  EXPECT_TRUE(inChild([&] {
    close_range(3, ~0u, 0);
    std::vector<int> programs(8);
    for (int &descriptor : programs)
      descriptor = open(unrelated.c_str(), O_RDONLY | O_DIRECTORY);
    if (!cache.lookup(stored.key) || !cache.store(other.key, other.bytes) || filesIn(unrelated) != 0)
      return false;
    fs::remove_all(directory); // the cache releases its directory
    (void)cache.store(other.key, other.bytes);
    for (const int descriptor : programs)
      if (fcntl(descriptor, F_GETFD) < 0)
        return false;
    return filesIn(unrelated) == 0;
  }));
}

TEST_F(DiskCacheTest, FilesFromServersNameTheirSigner) {
  quern_remote_origin origin{};
  origin.signer[0] = 7;
  origin.expiry = 1234567890;
  ASSERT_TRUE(cache.store(stored.key, stored.bytes, &origin));
  bool isAsked = false;
  const auto believes = [&](const quern_remote_origin &asked) {
    isAsked = asked.signer[0] == 7 && asked.signer[31] == 0 && asked.expiry == 1234567890;
    return true;
  };
  std::optional<DiskCache::Hit> hit = cache.lookup(stored.key, believes);
  ASSERT_TRUE(hit);
  EXPECT_TRUE(isAsked);
  EXPECT_EQ(hit->bytes, stored.bytes);
  EXPECT_FALSE(cache.lookup(stored.key, [](const quern_remote_origin &) { return false; }));
  EXPECT_EQ(cache.counters().misses, 1u);
  EXPECT_EQ(cache.counters().rejected, 0u);
  Result<DiskCache::Stored> read = cache.read(stored.key.digest.hex() + ".qk");
  ASSERT_TRUE(read && read->origin);
  EXPECT_EQ(read->bytes, stored.bytes);
  EXPECT_EQ(read->origin->expiry, 1234567890);
  EXPECT_TRUE(cache.verify(/*removeBad=*/false)->front().problem.empty());
  ASSERT_TRUE(cache.store(stored.key, stored.bytes)); // a local compilation replaces it
  EXPECT_TRUE(cache.lookup(stored.key, [](const quern_remote_origin &) { return false; }));
}

TEST_F(DiskCacheTest, ReadOnlyDirectoryServesButStoresNothing) {
  ASSERT_TRUE(cache.store(stored.key, stored.bytes));
  const Stored other = makeStored(7);
  fs::permissions(temporary.path, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  EXPECT_TRUE(inChild([&] {
    if (geteuid() == 0) { // root may write anywhere, so become the owner of the files
      for (const std::string &path :
           {temporary.path, temporary.path + "/a", temporary.path + "/a/b", directory, pathOf(cache, stored.key)})
        if (chown(path.c_str(), 12345, 12345) != 0)
          return false;
      if (setgid(12345) != 0 || setuid(12345) != 0)
        return false;
    }
    chmod(directory.c_str(), 0500);
    DiskCache fresh(directory);
    return fresh.lookup(stored.key).has_value() && !fresh.store(other.key, other.bytes) &&
           fresh.counters().storeFailures == 1;
  }));
  chmod(directory.c_str(), 0700);
}

TEST_F(DiskCacheTest, ThreadsNeverReadPartialFiles) {
  std::vector<std::thread> threads;
  std::atomic<int> torn{0};
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      DiskCache threadCache(directory); // like another process
      for (int round = 0; round < 50; ++round) {
        EXPECT_TRUE(threadCache.store(stored.key, stored.bytes));
        std::optional<DiskCache::Hit> hit = threadCache.lookup(stored.key);
        torn += !hit || hit->bytes != stored.bytes ? 1 : 0;
      }
      torn += static_cast<int>(threadCache.counters().rejected);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(filesIn(directory), 1u);
}

TEST(DiskCacheDirectory, FollowsTheEnvironment) {
  test::ScopedEnvironment home("HOME", "/home/someone"), xdg("XDG_CACHE_HOME", "/xdg");
  {
    test::ScopedEnvironment cacheDir("QUERN_CACHE_DIR", "/somewhere");
    EXPECT_EQ(DiskCache::defaultDirectory(), "/somewhere");
  }
  for (const char *off : {"off", ""}) {
    test::ScopedEnvironment cacheDir("QUERN_CACHE_DIR", off);
    EXPECT_EQ(DiskCache::defaultDirectory(), "");
    DiskCache cache(DiskCache::defaultDirectory());
    const Stored stored = makeStored(4);
    EXPECT_TRUE(cache.isOff());
    EXPECT_TRUE(cache.store(stored.key, stored.bytes));
    EXPECT_FALSE(cache.lookup(stored.key));
    EXPECT_TRUE(cache.list()->empty());
  }
  const std::string saved = std::getenv("QUERN_CACHE_DIR") ? std::getenv("QUERN_CACHE_DIR") : "off";
  unsetenv("QUERN_CACHE_DIR");
  EXPECT_EQ(DiskCache::defaultDirectory(), "/xdg/quern");
  {
    test::ScopedEnvironment relative("XDG_CACHE_HOME", "relative");
    EXPECT_EQ(DiskCache::defaultDirectory(), "/home/someone/.cache/quern");
  }
  setenv("QUERN_CACHE_DIR", saved.c_str(), 1);
}

/// While the lock of a key is held, others wait until their callback ends the wait.
TEST_F(DiskCacheTest, LocksAreExclusive) {
  DiskCache cache(temporary.path), other(temporary.path);
  const KernelKey first = makeStored(3).key, second = makeStored(4).key;
  int waits = 0;
  const auto few = [&] { return ++waits < 5; };
  std::optional<KeyLock> lock(cache.lock(first, few));
  EXPECT_TRUE(lock->isHeld());
  EXPECT_EQ(waits, 0);
  EXPECT_FALSE(other.lock(first, few).isHeld());
  EXPECT_EQ(waits, 5);
  EXPECT_TRUE(other.lock(second, few).isHeld()) << "another key";
  const pid_t child = fork(); // inherits the open file
  if (child == 0) {
    pause();
    _exit(0);
  }
  lock.reset();
  EXPECT_TRUE(other.lock(first, few).isHeld());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(DiskCache(temporary.path).list()->empty()) << "lock files are not kernels";
}

TEST_F(DiskCacheTest, ALockEndsWithItsProcess) {
  DiskCache cache(temporary.path);
  const KernelKey key = makeStored(3).key;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const KeyLock lock = cache.lock(key, [] { return true; });
    (void)!write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(cache.lock(key, [] { return false; }).isHeld());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(cache.lock(key, [] { return false; }).isHeld());
  close(ready[0]);
  close(ready[1]);
}

TEST_F(DiskCacheTest, LocksWithoutADirectoryDoNotWait) {
  EXPECT_FALSE(DiskCache("").lock(makeStored(3).key, [] { return true; }).isHeld());
  chmod(temporary.path.c_str(), 0777); // refused
  EXPECT_FALSE(DiskCache(temporary.path).lock(makeStored(3).key, [] { return true; }).isHeld());
  chmod(temporary.path.c_str(), 0700);
}

} // namespace
} // namespace quern
