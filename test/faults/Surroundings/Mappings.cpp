//===- Mappings.cpp - A process without free mappings ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Uses up all mappings of the process (vm.max_map_count) except 0 to 7, and loads a kernel from the disk cache. Checks
// that this succeeds or fails with out_of_memory, that no file is lost, and that the kernel runs afterwards.
//
// FAULTS: mappings-used-up limit=120:
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include "quern/quern_cache.h"

#include <filesystem>
#include <sys/mman.h>
#include <vector>

using namespace quern::faults;

static const char *const line = "softmax fwd_i src=f32:8x31:ab dst=f32:8x31:ab axis=1";

/// Maps pages of alternating protection, so that no two of them share a mapping.
static std::vector<char *> useUp(size_t spared) {
  std::vector<char *> pages;
  pages.reserve(1 << 20);
  for (;;) {
    void *page = mmap(nullptr, 4096, pages.size() % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || pages.size() == pages.capacity())
      break;
    pages.push_back(static_cast<char *>(page));
  }
  for (; spared > 0 && !pages.empty(); --spared, pages.pop_back())
    munmap(pages.back(), 4096);
  return pages;
}

int main() {
  const Cpu cpu;
  require(quern_set_primitive_cache_capacity_bytes(0), "capacity");
  Execution().all(cpu, line);
  const std::filesystem::path cache = std::getenv("QUERN_CACHE_DIR");
  for (size_t spared = 0; spared < 8; ++spared) {
    Execution execution;
    require(execution.describe(cpu.engine, line), "describe");
    const std::vector<char *> pages = useUp(spared);
    if (pages.size() == pages.capacity())
      skip("this process may have more mappings than the check uses up");
    const quern_status_t status = execution.create();
    const std::string message = status ? quern_get_last_error_message() : "";
    for (char *page : pages)
      munmap(page, 4096);
    require(status == quern_success || status == quern_out_of_memory,
            std::to_string(spared) + " spared: " + quern_status_name(status) + ": " + message);
    size_t files = 0;
    for (const auto &entry : std::filesystem::directory_iterator(cache))
      files += entry.path().extension() == ".qk";
    require(files == 1, std::to_string(spared) + " spared: the file of the cache is gone");
    Execution().all(cpu, line);
  }
}
