//===- Directory.cpp - A private directory, accessed safely ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Uses POSIX calls; each failure becomes a message with the text of its error number.
//
//===----------------------------------------------------------------------===//
#include "Cache/Directory.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quern {
namespace {

std::string errorText(int number) {
  char buffer[128];
  return strerror_r(number, buffer, sizeof(buffer)); // the GNU form: returns the text
}

/// Returns the reason why a directory or file must not be used, or nullopt.
std::optional<std::string> whyUnsafe(const struct stat &info) {
  if (info.st_uid != geteuid())
    return concat("it belongs to user ", info.st_uid, ", not to ", geteuid());
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return concat("others may write it (mode 0", (info.st_mode >> 6) & 7, (info.st_mode >> 3) & 7, info.st_mode & 7,
                  ")");
  return std::nullopt;
}

Result<void> makeDirectories(const std::string &path) {
  for (size_t end = 1; end != std::string::npos;) {
    end = path.find('/', end);
    std::string prefix = path.substr(0, end);
    if (mkdir(prefix.c_str(), 0700) != 0 && errno != EEXIST)
      return runtimeError("cannot create the cache directory ", prefix, ": ", errorText(errno));
    if (end != std::string::npos)
      ++end;
  }
  return {};
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
};

bool readAll(int fd, std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

/// Returns true if a write of this size would raise SIGXFSZ, which terminates programs that do not handle it.
bool exceedsFileLimit(size_t bytes) {
  rlimit limit = {};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

/// Writes a whole file, which must be empty. Returns the error number, or 0.
int writeAll(int fd, std::string_view bytes) {
  if (exceedsFileLimit(bytes.size()))
    return EFBIG;
  while (!bytes.empty()) {
    ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errno;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

} // namespace

Result<std::shared_ptr<OpenDirectory>> OpenDirectory::open(const std::string &path, bool create) {
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int fd = ::open(path.c_str(), flags);
  if (fd < 0 && errno == ENOENT) {
    if (!create)
      return std::shared_ptr<OpenDirectory>();
    QUERN_RETURN_IF_ERROR(makeDirectories(path));
    fd = ::open(path.c_str(), flags);
  }
  if (fd < 0) {
    if (errno == ELOOP || errno == ENOTDIR)
      return runtimeError("the cache directory ", path, " is refused: it is a symbolic link or not a directory");
    return runtimeError("cannot open the cache directory ", path, ": ", errorText(errno));
  }
  std::shared_ptr<OpenDirectory> directory(new OpenDirectory(fd));
  struct stat info;
  if (fstat(fd, &info) != 0)
    return runtimeError("cannot examine the cache directory ", path, ": ", errorText(errno));
  if (std::optional<std::string> reason = whyUnsafe(info))
    return runtimeError("the cache directory ", path, " is refused: ", *reason);
  return directory;
}

bool OpenDirectory::isCurrent() const {
  struct stat info;
  return fstat(kept.get(), &info) == 0 && info.st_nlink > 0 && !whyUnsafe(info);
}

Result<std::vector<OpenDirectory::File>> OpenDirectory::files() const {
  // Opens the directory again, because duplicated descriptors share the position of a directory stream.
  const int fd = kept.get();
  int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = copy < 0 ? nullptr : fdopendir(copy);
  if (!stream) {
    Error error = runtimeError("cannot list the cache directory: ", errorText(errno));
    if (copy >= 0)
      close(copy);
    return error;
  }
  std::unique_ptr<DIR, int (*)(DIR *)> closer(stream, closedir);
  std::vector<File> found;
  while (const dirent *entry = readdir(stream)) {
    struct stat info;
    if (fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
      found.push_back({entry->d_name, static_cast<uint64_t>(info.st_size), info.st_mtim.tv_sec});
  }
  return found;
}

Result<std::optional<std::string>> OpenDirectory::read(const std::string &name, uint64_t limit,
                                                       int64_t touchAfterSeconds) const {
  Descriptor file{openat(kept.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (file.fd < 0) {
    if (errno == ENOENT)
      return std::optional<std::string>();
    if (errno == ELOOP)
      return invalidArguments(name, " is a symbolic link");
    return runtimeError("cannot open ", name, ": ", errorText(errno));
  }
  struct stat info;
  if (fstat(file.fd, &info) != 0)
    return runtimeError("cannot examine ", name, ": ", errorText(errno));
  if (!S_ISREG(info.st_mode))
    return invalidArguments(name, " is not a regular file");
  if (std::optional<std::string> reason = whyUnsafe(info))
    return invalidArguments(name, " is refused: ", *reason);
  if (static_cast<uint64_t>(info.st_size) > limit)
    return invalidArguments(name, " has ", info.st_size, " bytes; the limit is ", limit);
  std::optional<std::string> bytes(std::in_place, static_cast<size_t>(info.st_size), '\0');
  if (!readAll(file.fd, *bytes))
    return runtimeError("cannot read ", name, " completely");
  if (time(nullptr) - info.st_mtim.tv_sec > touchAfterSeconds)
    futimens(file.fd, nullptr); // fails on a read-only file system, where nothing is evicted either
  return bytes;
}

Result<void> OpenDirectory::writeNew(const std::string &name, std::string_view bytes) const {
  int file = openat(kept.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0)
    return runtimeError("cannot create ", name, ": ", errorText(errno));
  int failure = writeAll(file, bytes);
  if (close(file) != 0 && failure == 0)
    failure = errno;
  if (failure == 0)
    return {};
  remove(name);
  return runtimeError("cannot write ", bytes.size(), " bytes to ", name, ": ", errorText(failure));
}

Result<void> OpenDirectory::rename(const std::string &from, const std::string &to) const {
  const int fd = kept.get();
  if (renameat(fd, from.c_str(), fd, to.c_str()) == 0)
    return {};
  int failure = errno;
  remove(from);
  return runtimeError("cannot rename ", from, " to ", to, ": ", errorText(failure));
}

bool OpenDirectory::contains(const std::string &name) const {
  return faccessat(kept.get(), name.c_str(), R_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int OpenDirectory::openEmpty(const std::string &name) const {
  return openat(kept.get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

bool OpenDirectory::remove(const std::string &name) const { return unlinkat(kept.get(), name.c_str(), 0) == 0; }

} // namespace quern
