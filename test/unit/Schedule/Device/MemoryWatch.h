//===- MemoryWatch.h - Recording accesses to a kernel's memory ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Records the last reader and writer of every element of a device's buffers, and detects undefined behavior: accesses
// outside of a buffer, misaligned words, and unordered accesses of two work-items to one element, of which one writes.
// A barrier orders all accesses of a group to its group memory; in other memory, it only orders a write after earlier
// reads. Lanes of a sub-group run in lockstep: a write of one lane comes after the reads that other lanes made before
// it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_DEVICE_MEMORYWATCH_H
#define QUERN_TEST_RECIPES_DEVICE_MEMORYWATCH_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quern::test {

/// An access of contiguous elements.
struct DeviceAccess {
  int64_t buffer = 0; ///< number of the buffer, in the order of add()
  int64_t first = 0, count = 1;
  int64_t alignment = 1; ///< alignment that the kernel promises, in bytes
  bool isWrite = false;
};

class MemoryWatch {
public:
  /// Adds a buffer. Buffers with the same address and element size share memory. `isOfGroup`: each group has its own
  /// memory, which is uninitialized at first.
  void add(const std::string &name, const char *data, int64_t bytes, int64_t elementBytes, bool isOfGroup);
  /// Separates earlier accesses of the group from later ones, like a barrier.
  void startPhase(int64_t group);
  /// Records an access of a work-item and its sub-group, both numbered over all groups. Returns a description of
  /// undefined behavior; empty if there is none.
  std::string note(int64_t item, int64_t subGroup, const DeviceAccess &access);

private:
  static constexpr uint32_t nobody = 0, several = ~0u;
  /// All numbers are stored plus 1.
  struct Element {
    uint32_t writer = nobody, written = 0; ///< last work-item that wrote, and its phase
    uint32_t reader = nobody, read = 0;    ///< sub-group that read in that phase, or `several`
    uint32_t readers = nobody;             ///< group that read in any phase, or `several`
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
