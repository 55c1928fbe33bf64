//===- WorkGroups.h - Running a device's work-items on the host -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs a kernel in which one call is one work-item (WorkItems.h). The work-items of a group alternate on separate
// stacks: each runs until a barrier or an exchange with its sub-group. A seed determines the order of the work-items
// and the members of a sub-group.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_DEVICE_WORKGROUPS_H
#define QUERN_TEST_RECIPES_DEVICE_WORKGROUPS_H

#include "MemoryWatch.h"

#include <functional>
#include <random>

namespace quern::test {

/// Addresses of the functions that work-items call.
struct WorkItemCalls {
  uint64_t lane, subGroup; ///< int64_t()
  uint64_t barrier;        ///< void(int64_t place)
  uint64_t exchange;       ///< uint64_t(int64_t place, uint64_t value, int64_t lane, int64_t isXor, int64_t width)
  uint64_t access;         ///< void(int64_t buffer, int64_t first, int64_t count, int64_t alignment, int64_t isWrite)
};
/// `place` identifies a call site of a kernel.
WorkItemCalls workItemCalls();

/// The groups of one execution; only one at a time in a process.
class WorkGroups {
public:
  /// Groups of `items` work-items, in sub-groups of `subGroup`; 0: the kernel does not use sub-groups.
  WorkGroups(int64_t items, int64_t subGroup, uint64_t seed, MemoryWatch &watch);
  /// Calls `item` for each work-item of a group. A signal handler may leave this function. Returns false if something
  /// was undefined.
  bool run(int64_t number, const std::function<void(int64_t item)> &item);
  /// Returns the first undefined behavior: a barrier that not all work-items reach, an exchange without the whole
  /// sub-group, or a report of MemoryWatch. Empty if there is none.
  const std::string &fault() const { return firstFault; }

private:
  friend struct Calls;
  enum class State { Ready, Barrier, Exchange, Write, Done };
  struct Item {
    char *stack = nullptr; ///< stack pointer while it is suspended
    State state = State::Ready;
    int64_t place = 0; ///< call site that it waits at
    int64_t group = 0, lane = 0;
    uint64_t value = 0;
    int64_t from = 0; ///< lane whose value it receives
  };
  struct SubGroup {
    std::vector<int64_t> items; ///< work-items by lane
    std::vector<int64_t> order; ///< work-items in random order
  };

  void place();
  void prepare(Item &item, int64_t number);
  void wait(State state, int64_t place);
  void fail(const std::string &what);
  bool isFine(const DeviceAccess &access);
  bool runUntilWait(SubGroup &subGroup);
  /// Runs until the whole sub-group waits at a barrier or is done. Returns false if its work-items diverge.
  bool runUntilBarrier(SubGroup &subGroup);
  bool isContiguous(const std::vector<int64_t> &those);
  void exchange(SubGroup &subGroup);
  static void beginItem();

  const int64_t count, width;
  const bool hasSubGroups;
  std::mt19937_64 random;
  MemoryWatch &watch;
  const std::function<void(int64_t)> *body = nullptr;
  std::vector<Item> items;
  std::vector<SubGroup> subGroups;
  std::unique_ptr<char[]> stacks;
  char *runStack = nullptr; ///< stack of run()
  int64_t group = 0, current = 0;
  std::string firstFault;
};

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_DEVICE_WORKGROUPS_H
