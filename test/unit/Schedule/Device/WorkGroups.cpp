//===- WorkGroups.cpp - Running a device's work-items on the host ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Stacks are switched by assembly code, because swapcontext() makes a system call for the signal mask each time, and a
// product of matrices switches several hundred thousand times.
//
//===----------------------------------------------------------------------===//
#include "WorkGroups.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace quern::test;

/// Stores the stack pointer in *from, after pushing the callee-saved registers, and continues on the stack `to`.
extern "C" void quernTestSwitchStacks(char **from, char *to);
#ifdef __x86_64__
/// Number of words that the switch leaves on a stack, and the index of the return address.
static constexpr int64_t keptWords = 8, returnWord = 6;
asm(R"(
.text
.globl quernTestSwitchStacks
.type quernTestSwitchStacks, @function
quernTestSwitchStacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size quernTestSwitchStacks, .-quernTestSwitchStacks
)");
#else // AArch64
static constexpr int64_t keptWords = 20, returnWord = 11;
asm(R"(
.text
.globl quernTestSwitchStacks
.type quernTestSwitchStacks, %function
quernTestSwitchStacks:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size quernTestSwitchStacks, .-quernTestSwitchStacks
)");
#endif

/// For functions that never return: AddressSanitizer's poison around their variables would remain on the stack for its
/// next user.
#define LEFT_FOR_GOOD __attribute__((no_sanitize("address")))

static constexpr int64_t stackBytes = int64_t(1) << 17; // untouched pages take no memory
static WorkGroups *running = nullptr;

namespace quern::test {

struct Calls {
  static int64_t lane() { return running->items[static_cast<size_t>(running->current)].lane; }
  static int64_t subGroup() { return running->items[static_cast<size_t>(running->current)].group; }
  static void barrier(int64_t place) { running->wait(WorkGroups::State::Barrier, place); }
  static uint64_t exchange(int64_t place, uint64_t value, int64_t lane, int64_t isXor, int64_t width) {
    WorkGroups::Item &item = running->items[static_cast<size_t>(running->current)];
    item.value = value;
    item.from = isXor ? item.lane ^ lane : lane;
    if (!running->hasSubGroups || width != running->width)
      running->fail("exchanges values in a sub-group of " + std::to_string(width));
    running->wait(WorkGroups::State::Exchange, place);
    return item.value;
  }
  LEFT_FOR_GOOD static void access(int64_t buffer, int64_t first, int64_t count, int64_t alignment, int64_t isWrite) {
    if (isWrite && running->hasSubGroups)
      running->wait(WorkGroups::State::Write, 0);
    if (running->isFine({buffer, first, count, alignment, isWrite != 0}))
      return;
    running->wait(WorkGroups::State::Done, 0); // never returns, so the access is skipped
  }
};

} // namespace quern::test

WorkItemCalls quern::test::workItemCalls() {
  auto address = [](auto *function) { return reinterpret_cast<uint64_t>(function); };
  return {address(&Calls::lane), address(&Calls::subGroup), address(&Calls::barrier), address(&Calls::exchange),
          address(&Calls::access)};
}

WorkGroups::WorkGroups(int64_t items, int64_t subGroup, uint64_t seed, MemoryWatch &watch)
    : count(items), width(subGroup ? subGroup : 1), hasSubGroups(subGroup), random(seed), watch(watch), items(items),
      stacks(new char[static_cast<size_t>(items * stackBytes)]) {
  place();
}

/// The device assigns work-items to sub-groups; they need not be contiguous.
void WorkGroups::place() {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (random() % 2)
    std::shuffle(order.begin(), order.end(), random);
  subGroups.resize(count / width);
  for (int64_t i = 0; i < count; ++i) {
    Item &item = items[order[i]];
    item.group = i / width, item.lane = i % width;
    subGroups[item.group].items.push_back(order[i]);
  }
  for (SubGroup &subGroup : subGroups)
    subGroup.order = subGroup.items;
}

void WorkGroups::fail(const std::string &what) {
  if (firstFault.empty())
    firstFault = "work-item " + std::to_string(current) + " of group " + std::to_string(group) + " (lane " +
                 std::to_string(items[current].lane) + " of sub-group " + std::to_string(items[current].group) + ") " +
                 what;
}

bool WorkGroups::isFine(const DeviceAccess &access) {
  const int64_t before = group * count; // number of work-items of earlier groups
  const std::string what = watch.note(before + current, before / width + items[current].group, access);
  if (!what.empty())
    fail(what);
  return what.empty();
}

LEFT_FOR_GOOD void WorkGroups::wait(State state, int64_t place) {
  Item &item = items[current];
  item.state = state, item.place = place;
  quernTestSwitchStacks(&item.stack, runStack);
}

LEFT_FOR_GOOD void WorkGroups::beginItem() {
  (*running->body)(running->current);
  running->wait(State::Done, 0);
}

/// Prepares a stack as if the switch had suspended it at the start of beginItem().
void WorkGroups::prepare(Item &item, int64_t number) {
  uint64_t first[keptWords] = {};
  first[returnWord] = reinterpret_cast<uint64_t>(&beginItem);
  item.stack = stacks.get() + (number + 1) * stackBytes - static_cast<int64_t>(sizeof first);
  std::memcpy(item.stack, first, sizeof first);
  item.state = State::Ready;
}

bool WorkGroups::isContiguous(const std::vector<int64_t> &those) {
  const Item &first = items[those.front()];
  for (int64_t number : those) {
    const Item &item = items[number];
    if (item.state == first.state && item.place == first.place)
      continue;
    static const char *const names[] = {"runs", "is at the barrier", "is at the exchange", "writes", "is done"};
    auto say = [&](const Item &of) {
      return names[static_cast<int>(of.state)] + (of.place ? " " + std::to_string(of.place) : "");
    };
    current = number;
    fail(say(item) + " while work-item " + std::to_string(those.front()) + " " + say(first));
    return false;
  }
  return true;
}

void WorkGroups::exchange(SubGroup &subGroup) {
  std::vector<uint64_t> values;
  for (int64_t number : subGroup.items)
    values.push_back(items[number].value);
  for (int64_t number : subGroup.items) {
    Item &item = items[number];
    current = number;
    if (item.from < 0 || item.from >= width)
      fail("reads the value of lane " + std::to_string(item.from) + " of " + std::to_string(width));
    else
      item.value = values[item.from];
    item.state = State::Ready;
  }
}

/// Runs a sub-group until its work-items are at barriers or exchanges, or done. A work-item that is about to write
/// waits until the others have caught up.
bool WorkGroups::runUntilWait(SubGroup &subGroup) {
  std::shuffle(subGroup.order.begin(), subGroup.order.end(), random);
  for (bool isRunning = true; isRunning;) {
    isRunning = false;
    for (int64_t number : subGroup.order) {
      if (items[number].state != State::Ready)
        continue;
      current = number;
      quernTestSwitchStacks(&runStack, items[number].stack);
      if (!firstFault.empty())
        return false;
    }
    for (int64_t number : subGroup.order)
      if (items[number].state == State::Write) {
        items[number].state = State::Ready;
        isRunning = true;
      }
  }
  return true;
}

bool WorkGroups::runUntilBarrier(SubGroup &subGroup) {
  while (true) {
    if (!runUntilWait(subGroup))
      return false;
    if (!isContiguous(subGroup.items))
      return false;
    if (items[subGroup.items.front()].state != State::Exchange)
      return true;
    exchange(subGroup);
  }
}

bool WorkGroups::run(int64_t number, const std::function<void(int64_t)> &item) {
  running = this, body = &item, group = number;
  std::vector<int64_t> all(count), order(subGroups.size());
  std::iota(all.begin(), all.end(), 0);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = 0; i < count; ++i)
    prepare(items[i], i);
  while (true) {
    watch.startPhase(number);
    std::shuffle(order.begin(), order.end(), random);
    for (int64_t which : order)
      if (!runUntilBarrier(subGroups[which]))
        return false;
    if (!isContiguous(all))
      return false;
    if (items.front().state == State::Done)
      return true;
    for (Item &each : items)
      each.state = State::Ready;
  }
}
