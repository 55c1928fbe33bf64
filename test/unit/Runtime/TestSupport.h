//===- TestSupport.h - Helpers of the runtime's tests ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Temporary directories, scoped environment variables, and softmax problems on the fake compiler's kernels through the
// C API.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RUNTIME_TESTSUPPORT_H
#define QUERN_TEST_RUNTIME_TESTSUPPORT_H

#include "quern/quern.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

// The command prefix of programs in a cross build, with a space after it.
#ifndef QUERN_EMULATOR
#define QUERN_EMULATOR ""
#endif

namespace quern::test {

/// A directory of mode 0700, which is removed with its contents.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "quern-test-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

class ScopedEnvironment {
public:
  ScopedEnvironment(const char *name, const std::string &value) : name(name) {
    if (const char *old = std::getenv(name))
      saved = old;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedEnvironment() { saved ? setenv(name, saved->c_str(), 1) : unsetenv(name); }

private:
  const char *name;
  std::optional<std::string> saved;
};

/// Sets the directory of the disk cache, and turns the cache off on destruction; empties the memory cache both times.
class ScopedCaches {
public:
  explicit ScopedCaches(const std::string &directory) {
    emptyMemory();
    quern_set_disk_cache(directory.c_str());
  }
  ~ScopedCaches() {
    quern_set_disk_cache(nullptr);
    emptyMemory();
  }
  static void emptyMemory() {
    quern_set_primitive_cache_capacity(0);
    quern_set_primitive_cache_capacity(1024);
  }
};

inline quern_cache_statistics_t statistics() {
  quern_cache_statistics_t now;
  error::wrap_c_api(quern_get_cache_statistics(&now), "statistics");
  return now;
}

/// A primitive of the fake compiler with its tensors: src[i] = i, dst filled with -7.
struct Run {
  Run(const engine &device, const std::string &line) : desc(device, line), kernel(desc) {
    const size_t count = desc.src_desc().get_size() / sizeof(float);
    for (size_t i = 0; i < count; ++i)
      src.push_back(static_cast<float>(i));
    dst.assign(count, -7.0f);
    arguments = {{QUERN_ARG_SRC, memory(desc.src_desc(), device, src.data())},
                 {QUERN_ARG_DST, memory(desc.dst_desc(), device, dst.data())}};
  }
  void execute(const stream &order) { kernel.execute(order, arguments); }
  /// Returns the number of elements that are not (2 + i % 4) · i.
  size_t wrong() const {
    size_t count = 0;
    for (size_t i = 0; i < dst.size(); ++i)
      count += dst[i] != static_cast<float>(2 + i % 4) * src[i];
    return count;
  }
  primitive_desc desc;
  primitive kernel;
  std::vector<float> src, dst;
  std::unordered_map<int, memory> arguments;
};

/// Starts this program as a child for one problem, with a disk cache directory or "off"; returns null on failure.
inline FILE *startChild(const std::string &line, const std::string &cache) {
  std::array<char, 4096> self{};
  if (readlink("/proc/self/exe", self.data(), self.size() - 1) <= 0)
    return nullptr;
  return popen(
      ("QUERN_CACHE_DIR='" + cache + "' " QUERN_EMULATOR "'" + self.data() + "' --child '" + line + "'").c_str(), "r");
}

/// Returns the output of the child; `status`, if not null, receives its wait status, which is 0 on success.
inline std::string finishChild(FILE *child, int *status = nullptr) {
  std::string output;
  for (int c; (c = fgetc(child)) != EOF;)
    output += static_cast<char>(c);
  const int ended = pclose(child);
  if (status)
    *status = ended;
  return output;
}

/// Returns the status of a C++ call; quern_success if it did not throw.
template <typename Body> quern_status_t statusOf(Body &&body) {
  try {
    body();
  } catch (const error &failure) {
    return failure.status;
  }
  return quern_success;
}

} // namespace quern::test

#endif // QUERN_TEST_RUNTIME_TESTSUPPORT_H
