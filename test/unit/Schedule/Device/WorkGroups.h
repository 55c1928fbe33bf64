//===- WorkGroups.h - Work-items of a device on the host -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs a kernel of which one call is one work-item (WorkItems.h), the work-items of a group in turns on stacks of their
// own: each until it comes to a barrier or to an exchange with its sub-group. Whose turn it is, and which work-items a
// sub-group has, is drawn from a seed.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_DEVICE_WORKGROUPS_H
#define QUERN_TEST_RECIPES_DEVICE_WORKGROUPS_H

#include "MemoryWatch.h"

#include <functional>
#include <random>

namespace quern::test {

/// What work-items call, as addresses.
struct WorkItemCalls {
  uint64_t lane, subGroup; ///< int64_t()
  uint64_t barrier;        ///< void(int64_t place)
  uint64_t exchange;       ///< uint64_t(int64_t place, uint64_t value, int64_t lane, int64_t isXor, int64_t width)
  uint64_t access;         ///< void(int64_t buffer, int64_t first, int64_t count, int64_t alignment, int64_t isWrite)
};
/// Places tell calls of a kernel apart.
WorkItemCalls workItemCalls();

/// The groups of one execution. One at a time in a process.
class WorkGroups {
public:
  /// Groups of so many work-items, in sub-groups of `subGroup`; 0: the kernel counts on none.
  WorkGroups(int64_t items, int64_t subGroup, uint64_t seed, MemoryWatch &watch);
  /// Calls `item` for each work-item of a group, which may end in a signal that leaves this function. False
  /// if something was undefined.
  bool run(int64_t number, const std::function<void(int64_t item)> &item);
  /// What was undefined: barriers that not all work-items come to, exchanges without the whole
  /// sub-group, what MemoryWatch finds.
  const std::string &fault() const { return firstFault; }

private:
  friend struct Calls;
  enum class State { Ready, Barrier, Exchange, Write, Done };
  struct Item {
    char *stack = nullptr; ///< where it stopped
    State state = State::Ready;
    int64_t place = 0; ///< of the call that it waits in
    int64_t group = 0, lane = 0;
    uint64_t value = 0;
    int64_t from = 0; ///< the lane whose value it gets
  };
  struct SubGroup {
    std::vector<int64_t> items; ///< by lane
    std::vector<int64_t> turns; ///< the same, in another order
  };

  void place();
  void prepare(Item &item, int64_t number);
  void wait(State state, int64_t place);
  void fail(const std::string &what);
  bool isFine(const DeviceAccess &access);
  bool runUntilWait(SubGroup &subGroup);
  /// Until it waits as a whole or is done; false where its work-items part.
  bool runUntilBarrier(SubGroup &subGroup);
  bool areTogether(const std::vector<int64_t> &those);
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
  char *own = nullptr; ///< stack of run()
  int64_t group = 0, current = 0;
  std::string firstFault;
};

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_DEVICE_WORKGROUPS_H
