//===- GuardedBuffer.cpp - Memory next to inaccessible pages --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GuardedBuffer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace quern {
namespace {

constexpr char canary = '\xa5';
constexpr unsigned char prefill = 0xff;

size_t pageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Runs of accessible pages between two inaccessible ones. Test suites create hundreds of thousands of small buffers,
/// and most of their time would be two system calls and a page fault for each, so freed runs are reused, by their
/// number of pages.
class PagePool {
public:
  char *take(int64_t count) {
    {
      const std::lock_guard lock(mutex);
      if (auto found = kept.find(count); found != kept.end() && !found->second.empty()) {
        char *pages = found->second.back();
        found->second.pop_back();
        keptPages -= count;
        return pages;
      }
    }
    const size_t page = pageBytes(), inside = static_cast<size_t>(count) * page;
    void *all = mmap(nullptr, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
      throw std::bad_alloc();
    char *pages = static_cast<char *>(all) + page;
    if (mprotect(pages, inside, PROT_READ | PROT_WRITE) != 0) {
      munmap(all, inside + 2 * page);
      throw std::bad_alloc();
    }
    return pages;
  }

  void giveBack(char *pages, int64_t count) {
    {
      const std::lock_guard lock(mutex);
      if (keptPages + count <= maxKept) {
        kept[count].push_back(pages);
        keptPages += count;
        return;
      }
    }
    munmap(pages - pageBytes(), (static_cast<size_t>(count) + 2) * pageBytes());
  }

private:
  static constexpr int64_t maxKept = 4096; ///< limit of keptPages
  std::mutex mutex;
  std::map<int64_t, std::vector<char *>> kept; ///< by their number of pages
  int64_t keptPages = 0;
};

PagePool &pool() {
  static PagePool &one = *new PagePool; // never destroyed, because static buffers may outlive it
  return one;
}

bool areCanaries(const char *from, const char *to) {
  return from == to || (*from == canary && std::memcmp(from, from + 1, static_cast<size_t>(to - from - 1)) == 0);
}

} // namespace

std::string_view nameOf(GuardedSide side) { return side == GuardedSide::End ? "end" : "beginning"; }

std::optional<GuardedSide> guardedSideFromName(std::string_view name) {
  for (GuardedSide side : {GuardedSide::End, GuardedSide::Beginning})
    if (name == nameOf(side))
      return side;
  return std::nullopt;
}

GuardedBuffer::GuardedBuffer(int64_t bytes, const Placement &placement) : bytes(bytes) {
  constexpr int64_t line = 64;
  const auto page = static_cast<int64_t>(pageBytes());
  const bool isAtEnd = placement.side == GuardedSide::End;
  const int64_t step = placement.misalignment ? line : std::max<int64_t>(placement.alignment, 1);
  const int64_t slack = placement.misalignment + (isAtEnd ? step - 1 : 0);
  if (bytes < 0 || bytes > INT64_MAX / 2)
    throw std::bad_alloc();
  pageCount = std::max<int64_t>((bytes + slack + page - 1) / page, 1);
  pages = pool().take(pageCount);
  // The accessible pages start at a multiple of every alignment.
  const int64_t remaining = pageCount * page - bytes - placement.misalignment;
  begin = pages + placement.misalignment + (isAtEnd ? remaining / step * step : 0);
  std::memset(pages, canary, static_cast<size_t>(begin - pages));
  char *end = begin + bytes;
  std::memset(end, canary, static_cast<size_t>(pages + pageCount * page - end));
  fillAll(prefill);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer &&other) noexcept
    : pages(std::exchange(other.pages, nullptr)), pageCount(other.pageCount), begin(other.begin), bytes(other.bytes) {}

GuardedBuffer &GuardedBuffer::operator=(GuardedBuffer &&other) noexcept {
  std::swap(pages, other.pages);
  std::swap(pageCount, other.pageCount);
  std::swap(begin, other.begin);
  std::swap(bytes, other.bytes);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (pages)
    pool().giveBack(pages, pageCount);
}

bool GuardedBuffer::guardsIntact() const {
  return areCanaries(pages, begin) && areCanaries(begin + bytes, pages + pageCount * static_cast<int64_t>(pageBytes()));
}

void GuardedBuffer::fillAll(unsigned char value) { std::memset(begin, value, static_cast<size_t>(bytes)); }

} // namespace quern
