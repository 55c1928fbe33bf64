//===- Stream.h - Ordered executions on a device --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A single launch goes to an immediate command list. A program with several steps is recorded once into a regular list,
// which a queue replays until any of its arguments changes. If executions alternate between list and queue, two events
// order them without the host. In-order streams put a barrier before each execution, others only before executions that
// share scratch.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LEVELZERO_STREAM_H
#define QUERN_RUNTIME_LEVELZERO_STREAM_H

#include "Engine/Objects.h"
#include "LevelZero/DeviceExecutable.h"
#include "LevelZero/Events.h"

#include <deque>
#include <functional>
#include <list>

namespace quern::ze {

struct EventLinks : quern::EventLinks {
  std::span<const ze_event_handle_t> waits; ///< an execution starts after all of them
  /// Receives an event of the stream that is signaled at the end of the execution; null: none.
  ze_event_handle_t *signal = nullptr;
};

class Stream final : public quern::Stream {
public:
  /// Creates a stream. `lent`, if not null, is a caller-owned in-order immediate command list, which the stream uses
  /// but does not destroy.
  static Result<std::unique_ptr<quern::Stream>> create(Engine *engine, Device &device, bool isInOrder, bool isProfiling,
                                                       ze_command_list_handle_t lent = nullptr);
  ~Stream() override;

  /// Returns the immediate list.
  ze_command_list_handle_t commandList() const { return list; }
  /// The event that `links` receives becomes invalid maxReturned() executions later.
  Result<void> execute(const Call &call, const quern::EventLinks *links) override;
  static constexpr size_t maxReturned() { return 1024; }
  Result<void> wait() override;
  Result<std::vector<uint64_t>> profile() override;
  Result<void> resetProfile() override;

private:
  /// The recorded value of an argument: its address and the number of its allocation, or the value of a scalar. The
  /// number is needed because a driver may store properties of memory in the list, and other memory may get the same
  /// address.
  struct Recorded {
    uint64_t value = 0, allocation = 0;
    bool operator==(const Recorded &) const = default;
  };
  /// A program in a regular command list and its arguments. It is replayed for calls with equal arguments.
  struct Recording {
    std::shared_ptr<const DeviceExecutable> executable;
    std::vector<Recorded> buffers;
    std::vector<int64_t> sizes;
    Recorded scratch;              ///< the caller's or the stream's; zeros: none is used
    std::shared_ptr<void> scalars; ///< memory for scalars that the device reads
    OwnedList list;
  };
  /// The present execution.
  struct Run {
    const DeviceExecutable &executable;
    void *const *buffers; ///< scalars are in memory of the device
    const int64_t *sizes; ///< the open sizes, then the derived ones
    const int64_t *bound; ///< numbers of the program; null if it is plain
    void *shared;
  };

  Stream(Engine *engine, Device &device, bool isInOrder, bool isProfiling);
  Result<void> open(ze_command_list_handle_t lent);
  Result<void> openQueue();
  Result<void> finishLocked();
  Result<void> waitForList();
  Result<void> readTimings();
  void forgetFinished();

  /// Appends the commands of a call. `isPart` is true if the call belongs to an execution that is ordered and timed as
  /// a whole.
  Result<void> run(const Call &call, bool isPart);
  Result<void> waitFor(std::span<const ze_event_handle_t> waits);
  Result<void> signal(ze_event_handle_t *event);
  Result<void> runPlain(const Call &call, bool isPart);
  Result<void> runProgram(const Call &call, bool isPart);
  Result<void> runDirectly(const Run &run, bool isTimed);
  Result<void> runWithHost(const Call &call);
  Result<void> copyOnList(void *to, const void *from, const HostBuffer &range);
  Result<void> between(bool isTimed, const std::function<Result<void>()> &body);
  Result<void> record(const Run &run, Recording recording);
  Result<void> replay(const Recording &recording);
  Result<void> appendProgram(const Run &run, ze_command_list_handle_t to) const;
  static Recorded recordedOf(const Call &call, size_t position);
  Recorded scratchFor(const Call &call) const;
  bool serves(const Recording &recording, const Call &call, const int64_t *sizes) const;
  Recording describe(const Call &call, const int64_t *sizes) const;
  Result<std::vector<int64_t>> deriveSizes(const Call &call);
  Result<std::shared_ptr<void>> copyScalars(const Call &call, std::vector<void *> &buffers) const;
  Result<void> placeScalars(const Call &call, std::vector<void *> &buffers);
  struct Grown;
  Result<void *> grow(Grown &kept, int64_t bytes);
  Result<void *> scratchOf(const Call &call, int64_t bytes);

  /// Makes later commands wait for all earlier ones if `isOrdered`, otherwise only for those of the queue.
  Result<void> goToList(bool isOrdered);
  Result<void> goToQueue();
  void keep(const DeviceExecutable &executable);

  const std::shared_ptr<Device> owner;
  const bool isInOrder;
  std::mutex mutex; ///< guards the members below
  OwnedList ownedList;
  ze_command_list_handle_t list = nullptr; ///< immediate; the stream's or the caller's list
  bool isLent = false;
  OwnedQueue queue; ///< created by the first recording
  Events events, timedEvents;
  /// An event that a barrier sets: for the host at the end of a wait, and between list and queue, where the other side
  /// waits for it and resets it.
  struct Signal {
    ze_event_handle_t event = nullptr;
    bool isOpen = false; ///< true if an operation failed between setting and resetting
  };
  Result<void> close(Signal &signal);
  Signal finished, listDone, queueDone;
  OwnedList waitForListDone, signalQueueDone; ///< executed by the queue
  std::deque<ze_event_handle_t> returned;     ///< events returned to callers, oldest first
  enum class Place { Nowhere, List, Queue } last = Place::Nowhere;
  bool isListBusy = false, isQueueBusy = false;

  std::list<Recording> recordings;                               ///< most recently used first
  std::vector<Recording> retired;                                ///< the queue may still run them
  std::vector<std::shared_ptr<const DeviceExecutable>> inFlight; ///< the list may still run them
  /// Memory of the device that consecutive executions share.
  struct Grown {
    void *memory = nullptr;
    int64_t bytes = 0;
    uint64_t allocation = 0;
  };
  Grown scratch, staging;            ///< scratch of kernels; copies of host buffers
  std::vector<void *> retiredMemory; ///< too small; freed when nothing runs
  uint64_t *scalars = nullptr;       ///< array in host memory that the device can read
  size_t scalarCount = 0;

  struct Timing {
    ze_event_handle_t start, end; ///< events of the barriers around it; equal for one launch
  };
  std::vector<Timing> timings; ///< executions whose timestamps have not been read yet
  std::vector<uint64_t> durations;
};

} // namespace quern::ze

#endif // QUERN_RUNTIME_LEVELZERO_STREAM_H
