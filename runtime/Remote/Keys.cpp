//===- Keys.cpp - Key files, names of entries, signatures -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Keys.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quern::remote {
namespace {

static_assert(crypto_sign_PUBLICKEYBYTES == sizeof(PublicKey) && crypto_sign_BYTES == sizeof(Signature) &&
              crypto_sign_SECRETKEYBYTES == 64 && crypto_sign_SEEDBYTES == 32);

constexpr std::string_view privateTag = "quern-private-key-1 ", publicTag = "quern-public-key-1 ";
constexpr size_t maxFileBytes = 4096;

const unsigned char *bytesOf(std::string_view text) { return reinterpret_cast<const unsigned char *>(text.data()); }

template <typename Bytes> std::string hexOf(const Bytes &bytes) {
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  text.pop_back();
  return text;
}

/// A file descriptor that is closed at the end of the scope.
class File {
public:
  explicit File(int descriptor) : fd(descriptor) {}
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File() {
    if (fd >= 0)
      (void)::close(fd);
  }
  int get() const { return fd; }

private:
  int fd;
};

Error failureOf(const std::string &path, const char *what) {
  return runtimeError(what, " ", path, ": ", std::strerror(errno));
}

/// The permitted writers of a file.
enum class Trust { Anyone, OwnerOrRoot, Owner };

/// Fails if a user other than this one or root can write or replace the file. In a folder with the sticky bit, only the
/// owner of a file can replace it.
Result<void> checkWriters(const std::string &path, const struct stat &status) {
  if (status.st_uid != geteuid() && status.st_uid != 0)
    return runtimeError(path, " belongs to user ", status.st_uid, "; it must belong to this user or to root");
  const bool isSticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) && !isSticky)
    return runtimeError(path, " has mode 0", std::oct, status.st_mode & 0777, "; only its owner may write it");
  return {};
}

/// Opens a file and resolves links. Unless `trust` is Anyone, checks that other users cannot write its folder.
Result<int> openFile(const std::string &given, Trust trust, struct stat &status) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(given.c_str(), nullptr), &std::free);
  if (!resolved)
    return failureOf(given, "cannot read");
  const std::string path = resolved.get();
  const size_t slash = path.rfind('/');
  const std::string folderPath = path.substr(0, std::max<size_t>(slash, 1));
  const File folder(::open(folderPath.c_str(), flags | O_DIRECTORY));
  if (folder.get() < 0 || fstat(folder.get(), &status) != 0)
    return failureOf(folderPath, "cannot read");
  if (trust != Trust::Anyone)
    QUERN_RETURN_IF_ERROR(checkWriters(folderPath, status));
  const int file = ::openat(folder.get(), path.c_str() + slash + 1, flags);
  if (file < 0 || fstat(file, &status) != 0) {
    const Error failure = failureOf(given, "cannot read");
    if (file >= 0)
      (void)::close(file);
    return failure;
  }
  return file;
}

/// Reads the first line of a small file.
Result<std::string> readLine(const std::string &path, Trust trust) {
  struct stat status;
  QUERN_ASSIGN_OR_RETURN(int opened, openFile(path, trust, status));
  const File file(opened);
  if (!S_ISREG(status.st_mode))
    return runtimeError(path, " is not a regular file");
  if (trust == Trust::OwnerOrRoot)
    QUERN_RETURN_IF_ERROR(checkWriters(path, status));
  if (trust == Trust::Owner && ((status.st_mode & 077) != 0 || status.st_uid != geteuid()))
    return runtimeError("the private key ", path, " is another user's or has mode 0", std::oct, status.st_mode & 0777,
                        "; it must be this user's with mode 0600");
  std::string text(maxFileBytes, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failureOf(path, "cannot read");
    if (count == 0)
      break;
    size += static_cast<size_t>(count);
  }
  text.resize(std::min(size, text.find('\n')));
  while (!text.empty() && (text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  return text;
}

/// Parses a line that consists of `tag` and 32 bytes in hexadecimal.
Result<std::array<unsigned char, 32>> parseKey(const std::string &path, std::string_view line, std::string_view tag) {
  std::array<unsigned char, 32> key;
  size_t size = 0;
  const char *end = nullptr;
  const std::string_view digits = line.starts_with(tag) ? line.substr(tag.size()) : std::string_view();
  if (digits.size() != 64 ||
      sodium_hex2bin(key.data(), key.size(), digits.data(), digits.size(), nullptr, &size, &end) != 0 ||
      size != key.size() || end != digits.data() + digits.size())
    return invalidArguments(path, " is not a key: it must be one line, \"", tag, "\" and 64 hexadecimal digits");
  return key;
}

Result<void> writeNewFile(const std::string &path, const std::string &text, mode_t mode) {
  const File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (file.get() < 0)
    return failureOf(path, "cannot create");
  if (::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(file.get()) == 0)
    return {};
  const Error failure = failureOf(path, "cannot write");
  (void)::unlink(path.c_str());
  return failure;
}

} // namespace

PrivateKey::~PrivateKey() { sodium_memzero(secret.data(), secret.size()); }

EntryName nameOfEntry(std::string_view keyBytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash;
  crypto_hash_sha256(hash.data(), bytesOf(keyBytes), keyBytes.size());
  return hexOf(hash);
}

bool isEntryName(std::string_view name) {
  return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<void> prepareCryptography() {
  return sodium_init() < 0 ? Result<void>(runtimeError("libsodium cannot be initialized")) : Result<void>();
}

Result<PrivateKey> readPrivateKey(const std::string &path) {
  QUERN_ASSIGN_OR_RETURN(std::string line, readLine(path, Trust::Owner));
  Result<std::array<unsigned char, 32>> seed = parseKey(path, line, privateTag);
  sodium_memzero(line.data(), line.size());
  if (!seed)
    return seed.takeError();
  PrivateKey key;
  crypto_sign_seed_keypair(key.publicKey.data(), key.secret.data(), seed->data());
  sodium_memzero(seed->data(), seed->size());
  return key;
}

Result<std::vector<PublicKey>> readPublicKeys(std::string_view paths) {
  std::vector<PublicKey> keys;
  while (!paths.empty()) {
    const size_t end = std::min(paths.find(','), paths.size());
    const std::string path(paths.substr(0, end));
    paths.remove_prefix(std::min(end + 1, paths.size()));
    if (path.empty())
      continue;
    QUERN_ASSIGN_OR_RETURN(std::string line, readLine(path, Trust::OwnerOrRoot));
    QUERN_ASSIGN_OR_RETURN(PublicKey key, parseKey(path, line, publicTag));
    keys.push_back(key);
  }
  return keys;
}

Result<void> generateKeys(const std::string &path) {
  std::array<unsigned char, crypto_sign_SEEDBYTES> seed;
  randombytes_buf(seed.data(), seed.size());
  PrivateKey key;
  crypto_sign_seed_keypair(key.publicKey.data(), key.secret.data(), seed.data());
  std::string text = concat(privateTag, hexOf(seed), '\n');
  Result<void> written = writeNewFile(path, text, 0600);
  sodium_memzero(seed.data(), seed.size());
  sodium_memzero(text.data(), text.size());
  if (!written)
    return written;
  written = writeNewFile(path + ".pub", concat(publicTag, hexOf(key.publicKey), '\n'), 0644);
  if (!written)
    (void)::unlink(path.c_str());
  return written;
}

Signature sign(std::string_view message, const PrivateKey &key) {
  Signature signature;
  crypto_sign_detached(signature.data(), nullptr, bytesOf(message), message.size(), key.secret.data());
  return signature;
}

bool isSignedBy(std::string_view message, const Signature &signature, const PublicKey &key) {
  return crypto_sign_verify_detached(signature.data(), bytesOf(message), message.size(), key.data()) == 0;
}

Result<std::string> readSecret(const std::string &path) {
  Result<std::string> secret = readLine(path, Trust::Anyone);
  if (secret && secret->empty())
    return invalidArguments(path, " is empty; it must have a password or token in its first line");
  return secret;
}

} // namespace quern::remote
