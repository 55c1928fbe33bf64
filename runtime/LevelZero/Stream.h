//===- Stream.h - Executions on a device in their order -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What is one launch goes to an immediate command list. A program of several is recorded once into a regular list,
// which a queue replays as long as nothing that it was recorded with changes. Two events order list and queue where
// executions change from one to the other, without the host. In order, each execution is behind a barrier; out of order
// only those are that share scratch.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LEVELZERO_STREAM_H
#define QUERN_RUNTIME_LEVELZERO_STREAM_H

#include "Core/Objects.h"
#include "LevelZero/DeviceExecutable.h"
#include "LevelZero/Events.h"

#include <deque>
#include <functional>
#include <list>

namespace quern::ze {

struct EventLinks : quern::EventLinks {
  std::span<const ze_event_handle_t> waits; ///< an execution is behind all of them
  ze_event_handle_t *signal = nullptr;      ///< gets an event of the stream's that its end signals; null: none
};

class Stream final : public quern::Stream {
public:
  /// `lent`, if not null, is an immediate command list of the caller's, in order, which is not destroyed here.
  static Result<std::unique_ptr<quern::Stream>> create(Engine *engine, Device &device, bool isInOrder, bool isProfiling,
                                                       ze_command_list_handle_t lent = nullptr);
  ~Stream() override;

  /// The immediate one.
  ze_command_list_handle_t commandList() const { return list; }
  /// An event that `links` get is taken back maxReturned() executions later.
  Result<void> execute(const Call &call, const quern::EventLinks *links) override;
  static constexpr size_t maxReturned() { return 1024; }
  Result<void> wait() override;
  Result<std::vector<uint64_t>> profile() override;
  Result<void> resetProfile() override;

private:
  /// What a recording has of an argument: the address, and the number of the memory there, since a driver may keep what
  /// it knows of memory in the list and other memory may come to have its address. Of a scalar the value.
  struct Recorded {
    uint64_t value = 0, allocation = 0;
    bool operator==(const Recorded &) const = default;
  };
  /// A program in a regular command list, with what it was recorded with: it is replayed for a call that has the same.
  struct Recording {
    std::shared_ptr<const DeviceExecutable> executable;
    std::vector<Recorded> buffers;
    std::vector<int64_t> sizes;
    Recorded scratch;              ///< the caller's or the stream's; zeros: it uses none
    std::shared_ptr<void> scalars; ///< memory that the device reads them from
    OwnedList list;
  };
  /// The execution under way.
  struct Run {
    const DeviceExecutable &executable;
    void *const *buffers; ///< those of scalars are the device's
    const int64_t *sizes; ///< the derived ones as well
    const int64_t *bound; ///< the numbers of its program; null for a plain one
    void *shared;
  };

  Stream(Engine *engine, Device &device, bool isInOrder, bool isProfiling);
  Result<void> open(ze_command_list_handle_t lent);
  Result<void> openQueue();
  Result<void> finishLocked();
  Result<void> waitForList();
  Result<void> readTimings();
  void forgetFinished();

  /// `isPart`: of an execution that is ordered and timed as a whole.
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

  /// Makes what is appended next follow all that was before, or at least what the queue had.
  Result<void> goToList(bool isOrdered);
  Result<void> goToQueue();
  void keep(const DeviceExecutable &executable);

  const std::shared_ptr<Device> owner;
  const bool isInOrder;
  std::mutex mutex; ///< guards what follows
  OwnedList ownedList;
  ze_command_list_handle_t list = nullptr; ///< immediate: the own one or the caller's
  bool isLent = false;
  OwnedQueue queue; ///< made by the first recording
  Events events, timedEvents;
  /// Set by a barrier: for the host at the end of a wait, and between list and queue, where the other one
  /// waits for it and resets it.
  struct Signal {
    ze_event_handle_t event = nullptr;
    bool isOpen = false; ///< something failed between setting and resetting
  };
  Result<void> close(Signal &signal);
  Signal finished, listDone, queueDone;
  OwnedList waitForListDone, signalQueueDone; ///< for the queue
  std::deque<ze_event_handle_t> returned;     ///< to callers, the oldest first
  enum class Place { Nowhere, List, Queue } last = Place::Nowhere;
  bool isListBusy = false, isQueueBusy = false;

  std::list<Recording> recordings;                               ///< the last used first
  std::vector<Recording> retired;                                ///< that the queue may still run
  std::vector<std::shared_ptr<const DeviceExecutable>> inFlight; ///< that the list may still run
  /// Memory of the device that executions share, one after the other.
  struct Grown {
    void *memory = nullptr;
    int64_t bytes = 0;
    uint64_t allocation = 0;
  };
  Grown scratch, staging;            ///< for kernels, and for what the host has
  std::vector<void *> retiredMemory; ///< that was too small
  uint64_t *scalars = nullptr;       ///< memory of the host that the device reads
  size_t scalarCount = 0;

  struct Timing {
    ze_event_handle_t start, end; ///< one and the same of a launch; otherwise of the barriers around
  };
  std::vector<Timing> timings; ///< not read yet
  std::vector<uint64_t> durations;
};

} // namespace quern::ze

#endif // QUERN_RUNTIME_LEVELZERO_STREAM_H
