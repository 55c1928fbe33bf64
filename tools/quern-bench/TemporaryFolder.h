//===- TemporaryFolder.h - A folder that its destructor removes -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_TEMPORARYFOLDER_H
#define QUERN_BENCH_TEMPORARYFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace quern::bench {

class TemporaryFolder {
public:
  /// Creates the folder. Throws std::runtime_error if that fails.
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "quern-bench-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      throw std::runtime_error("cannot create a temporary folder like " + pattern);
    path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  std::string path;
};

} // namespace quern::bench

#endif // QUERN_BENCH_TEMPORARYFOLDER_H
