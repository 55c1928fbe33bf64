//===- MemoryWatch.h - Who touches which element of a kernel's memory -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Keeps of every element of a device's buffers who read and wrote it last, and finds what is undefined there: accesses
// beyond a buffer, words that are not aligned, and two work-items at one element, of which one writes, that nothing
// keeps in order. A barrier orders the accesses of a group to its memory; to other memory it orders a write behind what
// was read before it, and nothing else. Lanes of a sub-group go in step: what one of them writes comes behind what the
// others have read on their way there.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_DEVICE_MEMORYWATCH_H
#define QUERN_TEST_RECIPES_DEVICE_MEMORYWATCH_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quern::test {

/// An access of some elements side by side.
struct DeviceAccess {
  int64_t buffer = 0; ///< in the order in which they were added
  int64_t first = 0, count = 1;
  int64_t alignment = 1; ///< that the kernel promises, in bytes
  bool isWrite = false;
};

class MemoryWatch {
public:
  /// Buffers that begin at one address are the same memory. `isOfGroup`: each group has one of its
  /// own, which begins undefined.
  void add(const std::string &name, const char *data, int64_t bytes, int64_t elementBytes, bool isOfGroup);
  /// Accesses before this and after it are not at the same time, for work-items of this group.
  void startPhase(int64_t group);
  /// By a work-item and its sub-group, both counted over all groups. Returns what is wrong with it, or nothing.
  std::string note(int64_t item, int64_t subGroup, const DeviceAccess &access);

private:
  static constexpr uint32_t nobody = 0, several = ~0u;
  /// All by their number + 1.
  struct Element {
    uint32_t writer = nobody, written = 0; ///< the work-item, and in which phase
    uint32_t reader = nobody, read = 0;    ///< in that phase: the only sub-group, or several
    uint32_t readers = nobody;             ///< in all phases: the only group, or several
  };
  struct Buffer {
    std::string name;
    const char *data;
    int64_t elementBytes;
    bool isOfGroup;
    std::shared_ptr<std::vector<Element>> elements;
  };
  struct Accessor {
    uint32_t item, subGroup;
    bool isWrite;
  };
  std::string other(const Buffer &buffer, const Element &element, const Accessor &by) const;
  void keep(Element &element, const Accessor &by) const;

  std::vector<Buffer> buffers;
  uint32_t phase = 0, group = nobody;
};

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_DEVICE_MEMORYWATCH_H
