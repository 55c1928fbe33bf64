//===- JitDump.cpp - Files that report run-time code to perf --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The format of a jitdump is specified in tools/perf/Documentation/jitdump-specification.txt of Linux.
//
//===----------------------------------------------------------------------===//
#include "Debug/JitDump.h"

#include "Support/ElfMachine.h"

#include <cinttypes>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace quern {
namespace {

enum RecordKind : uint32_t { CodeLoad = 0, CodeDebugInfo = 2 };

uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

/// Start of every record.
struct RecordHead {
  uint32_t kind, bytes;
  uint64_t time = now();
};

template <typename T> void put(std::FILE *file, const T &value) { std::fwrite(&value, sizeof(value), 1, file); }
void put(std::FILE *file, const std::string &text) { std::fwrite(text.c_str(), text.size() + 1, 1, file); }

} // namespace

std::string jitDumpDirectory() {
  const char *home = secure_getenv("JITDUMPDIR");
  home = home && *home ? home : secure_getenv("HOME");
  return home && *home ? home : ".";
}

void addToPerfMap(const std::vector<ProfiledCode> &functions) {
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  // Other users can create files there: a FIFO must not block, and addresses must not go to another user's file.
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  struct stat info;
  const bool isOurs = descriptor >= 0 && fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
                      info.st_uid == geteuid() && info.st_nlink == 1 && !(info.st_mode & 022);
  std::FILE *map = isOurs ? fdopen(descriptor, "a") : nullptr;
  if (!map) {
    if (descriptor >= 0)
      close(descriptor);
    return;
  }
  for (const ProfiledCode &code : functions)
    std::fprintf(map, "%" PRIx64 " %" PRIx64 " %s\n", code.address, code.bytes, code.name.c_str());
  std::fclose(map);
}

void JitDump::open(const std::string &directory, const std::string &prefix) {
  if (owner == getpid())
    return;
  if (file && FileIdentity::of(fileno(file)) == identity)
    std::fclose(file); // the parent's file, whose buffer is empty
  file = nullptr;
  owner = getpid();
  failed = true; // until all steps have succeeded
  count = 0;
  std::string path = directory;
  for (const char *part : {"/.debug", "/jit"}) {
    path += part;
    mkdir(path.c_str(), 0700);
  }
  path += "/" + prefix + ".XXXXXX";
  if (!mkdtemp(path.data()))
    return;
  path += "/jit-" + std::to_string(owner) + ".dump";
  file = std::fopen(path.c_str(), "w+e");
  if (!file)
    return;
  identity = FileIdentity::of(fileno(file));
  struct {
    uint32_t magic = 0x4A695444, version = 1, bytes = 40, machine = hostElfMachine, pad = 0,
             pid = static_cast<uint32_t>(getpid());
    uint64_t time = now(), flags = 0;
  } header;
  static_assert(sizeof(header) == 40);
  put(file, header);
  std::fflush(file);
  // `perf record` detects the file by this executable mapping.
  failed = mmap(nullptr, static_cast<size_t>(sysconf(_SC_PAGESIZE)), PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file),
                0) == MAP_FAILED;
}

/// Writes the lines of a function, before its code.
void JitDump::writeLines(const ProfiledCode &code) {
  struct {
    RecordHead head{CodeDebugInfo, 0};
    uint64_t address = 0, count = 0;
  } record;
  static_assert(sizeof(record) == 32);
  struct Entry {
    uint64_t address;
    uint32_t line, discriminator;
  };
  record.head.bytes =
      static_cast<uint32_t>(sizeof(record) + code.lines.size() * (sizeof(Entry) + code.source.size() + 1));
  record.address = code.address;
  record.count = code.lines.size();
  put(file, record);
  for (const ProfiledCode::Line &line : code.lines) {
    put(file, Entry{line.address, line.line, 0});
    put(file, code.source);
  }
}

void JitDump::write(const ProfiledCode &code) {
  failed = failed || !file || FileIdentity::of(fileno(file)) != identity; // the program may have closed the descriptor
  if (failed)
    return;
  if (!code.lines.empty())
    writeLines(code);
  struct {
    RecordHead head{CodeLoad, 0};
    uint32_t pid = static_cast<uint32_t>(getpid()), thread = static_cast<uint32_t>(syscall(SYS_gettid));
    uint64_t place = 0, address = 0, codeBytes = 0, number = 0;
  } record;
  static_assert(sizeof(record) == 56);
  record.head.bytes = static_cast<uint32_t>(sizeof(record) + code.name.size() + 1 + code.bytes);
  record.place = record.address = code.address;
  record.codeBytes = code.bytes;
  record.number = count++;
  put(file, record);
  put(file, code.name);
  std::fwrite(reinterpret_cast<const void *>(code.address), code.bytes, 1, file);
  std::fflush(file);
}

} // namespace quern
