//===- Team.cpp - A program on several threads ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every member of the team walks the whole program. A group's space is divided into slots. Member i first claims slot
// i, so that its data stays in the caches of one thread from step to step, then unclaimed slots. The next group starts
// when the number of finished slots reaches the sum over all groups so far, whichever members ran them. Therefore one
// member can finish alone, members may arrive late, and a pool may run them one after another.
//
// Groups are numbered in the order of execution. A member claims a slot of group n by raising the slot's number to n. A
// slow member cannot claim it, because all slots of a finished group have its number or a later one.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Team.h"

#include "Launch/Steps.h"

#include <atomic>
#include <sched.h>
#include <vector>

namespace quern {
namespace {

/// More members would not shorten steps that are separated by barriers.
constexpr int maxMembers = 128;
/// Spins before a waiting thread claims slots of other members: several times the skew of two equally loaded threads.
constexpr int spinsBeforeHelp = 256;
/// After this number of spins, another thread probably needs the processor.
constexpr int spinsBeforeYield = 4096;
/// Two cache lines, because some processors fetch them in pairs.
constexpr size_t destructiveInterferenceSize = 128;

/// Leaves more of a core to its other hardware thread during a wait.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("isb"); // takes about as long as pause; yield does nothing on most cores
#endif
}

class Team {
public:
  Team(const ProgramRun &run, const ScratchNeeds &needs, const ExecutionContext &context, int members)
      : run(run), needs(needs), context(context), members(members), slots(static_cast<size_t>(members)) {}
  static void runMember(void *team, int member) { static_cast<Team *>(team)->runAs(member); }
  bool isOutOfMemory() const { return outOfMemory.load(std::memory_order_relaxed); }

private:
  /// An execution of a group.
  struct Turn {
    uint64_t number;
    int64_t total;
    int slots;
    uint64_t end; ///< number of finished slots at its end
  };
  void runAs(int member);
  void runSlot(const ProgramCursor &cursor, const Turn &turn, int slot, void *scratch);
  void runLeft(const ProgramCursor &cursor, const Turn &turn, void *scratch);
  bool finish(const ProgramCursor &cursor, const Turn &turn, void *scratch);
  bool isDone(const Turn &turn) const { return finished.load(std::memory_order_acquire) >= turn.end; }

  const ProgramRun &run;
  const ScratchNeeds &needs;
  const ExecutionContext &context;
  const int members;
  alignas(destructiveInterferenceSize) std::atomic<uint64_t> finished{0}; ///< finished slots of all groups
  alignas(destructiveInterferenceSize) std::atomic<int> present{0};       ///< number of members that have arrived
  std::atomic<bool> ended{false}, outOfMemory{false};
  struct alignas(destructiveInterferenceSize) Slot {
    std::atomic<uint64_t> group{0}; ///< last group in which it was claimed
  };
  std::vector<Slot> slots; ///< one for each member; on the heap, because callers may have small stacks
};

void Team::runSlot(const ProgramCursor &cursor, const Turn &turn, int slot, void *scratch) {
  std::atomic<uint64_t> &group = slots[static_cast<size_t>(slot)].group;
  uint64_t last = group.load(std::memory_order_relaxed);
  if (last >= turn.number || !group.compare_exchange_strong(last, turn.number, std::memory_order_relaxed))
    return;
  run.runGroup(cursor.group(), cursor.indices(), scratch, cursor.isBackward(), chunkStart(turn.total, turn.slots, slot),
               chunkStart(turn.total, turn.slots, slot + 1));
  finished.fetch_add(1, std::memory_order_acq_rel);
}

void Team::runLeft(const ProgramCursor &cursor, const Turn &turn, void *scratch) {
  for (int slot = 0; slot < turn.slots && !isDone(turn); ++slot)
    runSlot(cursor, turn, slot, scratch);
}

/// Waits for slots of other members, and claims those of members that are late or slow. Returns false if the program
/// was aborted.
bool Team::finish(const ProgramCursor &cursor, const Turn &turn, void *scratch) {
  bool hasHelped = false;
  for (int spins = 0; !isDone(turn); ++spins) {
    if (outOfMemory.load(std::memory_order_relaxed))
      return false;
    if (!hasHelped && (spins >= spinsBeforeHelp || present.load(std::memory_order_relaxed) < members)) {
      runLeft(cursor, turn, scratch);
      hasHelped = true; // no slot is unclaimed now
    } else if (spins < spinsBeforeYield) {
      relax();
    } else {
      sched_yield();
    }
  }
  return true;
}

void Team::runAs(int member) {
  if (ended.load(std::memory_order_relaxed))
    return;
  const SlotScratch scratch(context.scratchpad, needs, member);
  if (!scratch.isThere()) {
    outOfMemory.store(true, std::memory_order_relaxed);
    return;
  }
  DefaultFloatEnvironment environment;
  present.fetch_add(1, std::memory_order_relaxed);
  Turn turn{0, 0, 0, 0};
  for (ProgramCursor cursor(run.program, run.bound); cursor.next();) {
    const Program::GroupSize size = run.program.sizeOf(run.bound, cursor.group());
    turn = {turn.number + 1, size.total, static_cast<int>(std::min<int64_t>(size.slots, members)), turn.end};
    turn.end += static_cast<uint64_t>(turn.slots);
    if (isDone(turn)) // this member arrived late
      continue;
    if (member < turn.slots)
      runSlot(cursor, turn, member, scratch.data());
    if (!finish(cursor, turn, scratch.data()))
      return;
  }
  ended.store(true, std::memory_order_relaxed);
}

Result<void> runAlone(const ProgramRun &run, const ScratchNeeds &needs, const ExecutionContext &context) {
  const SlotScratch scratch(context.scratchpad, needs, 0);
  if (!scratch.isThere())
    return noSlotMemory(needs, 1);
  DefaultFloatEnvironment environment;
  for (ProgramCursor cursor(run.program, run.bound); cursor.next();)
    run.runGroup(cursor.group(), cursor.indices(), scratch.data(), cursor.isBackward(), 0,
                 run.program.sizeOf(run.bound, cursor.group()).total);
  return {};
}

} // namespace

Error noSlotMemory(const ScratchNeeds &needs, int threads) {
  return {Status::OutOfMemory,
          concat("no memory for ", needs.perThread, " bytes of scratch on each of ", threads, " threads")};
}

Result<void> runProgram(const ProgramRun &run, const ScratchNeeds &needs, const ExecutionContext &context) {
  const int members = std::min({run.program.usefulThreads(run.bound), context.threads, maxMembers});
  if (members == 1)
    return runAlone(run, needs, context);
  Team team(run, needs, context, members);
  runOnThreads(context, members, Team::runMember, &team);
  return team.isOutOfMemory() ? Result<void>(noSlotMemory(needs, members)) : Result<void>();
}

} // namespace quern
