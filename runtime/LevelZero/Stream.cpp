//===- Stream.cpp - Ordered executions on a device ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Order, waiting and timing. StreamRun.cpp has the executions.
//
//===----------------------------------------------------------------------===//
#include "LevelZero/Stream.h"

#include <algorithm>

namespace quern::ze {

Stream::Stream(Engine *engine, Device &device, bool isInOrder, bool isProfiling)
    : quern::Stream(engine, isProfiling), owner(device.shared_from_this()), isInOrder(isInOrder), events(device, false),
      timedEvents(device, true) {}

Result<std::unique_ptr<quern::Stream>> Stream::create(Engine *engine, Device &device, bool isInOrder, bool isProfiling,
                                                      ze_command_list_handle_t lent) {
  std::unique_ptr<Stream> stream(new Stream(engine, device, isInOrder, isProfiling));
  QUERN_RETURN_IF_ERROR(stream->open(lent));
  return std::unique_ptr<quern::Stream>(std::move(stream));
}

Result<void> Stream::open(ze_command_list_handle_t lent) {
  QUERN_ASSIGN_OR_RETURN(ze_event_handle_t event, events.take());
  finished.event = event;
  isLent = lent != nullptr;
  list = lent;
  if (!isLent) {
    QUERN_ASSIGN_OR_RETURN(ownedList, owner->makeImmediateList());
    list = ownedList.get();
  }
  owner->add(this);
  return {};
}

/// Creates the queue, and the two lists by which it and the immediate list wait for each other.
Result<void> Stream::openQueue() {
  if (queue)
    return {};
  for (Signal *signal : {&listDone, &queueDone}) {
    QUERN_ASSIGN_OR_RETURN(ze_event_handle_t event,
                           signal->event ? Result<ze_event_handle_t>(signal->event) : events.take());
    signal->event = event;
  }
  Result<OwnedList> waits = owner->makeList(), signals = owner->makeList();
  if (!waits || !signals)
    return waits ? signals.takeError() : waits.takeError();
  QUERN_ZE_TRY(zeCommandListAppendWaitOnEvents, waits->get(), 1, &listDone.event);
  QUERN_ZE_TRY(zeCommandListAppendEventReset, waits->get(), listDone.event);
  QUERN_ZE_TRY(zeCommandListAppendBarrier, waits->get(), nullptr, 0, nullptr);
  QUERN_ZE_TRY(zeCommandListClose, waits->get());
  QUERN_ZE_TRY(zeCommandListAppendBarrier, signals->get(), queueDone.event, 0, nullptr);
  QUERN_ZE_TRY(zeCommandListClose, signals->get());
  QUERN_ASSIGN_OR_RETURN(OwnedQueue made, owner->makeQueue());
  waitForListDone = std::move(*waits);
  signalQueueDone = std::move(*signals);
  queue = std::move(made);
  return {};
}

Stream::~Stream() {
  owner->remove(this);
  // If the first wait fails, the work may still finish. A second failure is ignored.
  if (!finishLocked())
    (void)finishLocked();
  forgetFinished();
  owner->freeUnused(scratch.memory);
  owner->freeUnused(staging.memory);
  owner->freeUnused(scalars);
}

Result<void> Stream::close(Signal &signal) {
  if (!signal.isOpen)
    return {};
  QUERN_RETURN_IF_ERROR(finishLocked());
  QUERN_ZE_TRY(zeEventHostReset, signal.event);
  signal.isOpen = false;
  return {};
}

Result<void> Stream::goToList(bool isOrdered) {
  if (last == Place::Queue) {
    QUERN_RETURN_IF_ERROR(close(queueDone));
  }
  if (last == Place::Queue) {
    queueDone.isOpen = true;
    ze_command_list_handle_t signals = signalQueueDone.get();
    QUERN_ZE_TRY(zeCommandQueueExecuteCommandLists, queue.get(), 1, &signals, nullptr);
    isListBusy = true;
    QUERN_ZE_TRY(zeCommandListAppendWaitOnEvents, list, 1, &queueDone.event);
    QUERN_ZE_TRY(zeCommandListAppendEventReset, list, queueDone.event);
    QUERN_ZE_TRY(zeCommandListAppendBarrier, list, nullptr, 0, nullptr);
    queueDone.isOpen = false;
  } else if (isOrdered && isListBusy) {
    QUERN_ZE_TRY(zeCommandListAppendBarrier, list, nullptr, 0, nullptr);
  }
  last = Place::List;
  isListBusy = true;
  return {};
}

Result<void> Stream::goToQueue() {
  if (last == Place::List) {
    QUERN_RETURN_IF_ERROR(close(listDone));
  }
  if (last == Place::List) {
    listDone.isOpen = true;
    QUERN_ZE_TRY(zeCommandListAppendBarrier, list, listDone.event, 0, nullptr);
    isQueueBusy = true;
    ze_command_list_handle_t waits = waitForListDone.get();
    QUERN_ZE_TRY(zeCommandQueueExecuteCommandLists, queue.get(), 1, &waits, nullptr);
    listDone.isOpen = false;
  }
  last = Place::Queue;
  isQueueBusy = true;
  return {};
}

Result<void> Stream::waitForList() {
  const auto waitForBarrier = [this]() -> Result<void> {
    QUERN_ZE_TRY(zeEventHostSynchronize, finished.event, UINT64_MAX);
    QUERN_ZE_TRY(zeEventHostReset, finished.event);
    finished.isOpen = false;
    return {};
  };
  if (finished.isOpen) // the barrier of a failed wait is still pending, before all later commands
    QUERN_RETURN_IF_ERROR(waitForBarrier());
  QUERN_ZE_TRY(zeCommandListAppendBarrier, list, finished.event, 0, nullptr);
  finished.isOpen = true;
  return waitForBarrier();
}

Result<void> Stream::finishLocked() {
  Result<void> done;
  if (isListBusy)
    done = waitForList();
  if (done && isQueueBusy)
    if (const ze_result_t result = api().zeCommandQueueSynchronize(queue.get(), UINT64_MAX))
      done = errorOf(result, "zeCommandQueueSynchronize");
  if (!done)
    return done; // keeps everything that may still run
  isListBusy = isQueueBusy = false;
  last = Place::Nowhere;
  done = readTimings();
  forgetFinished();
  return done;
}

void Stream::forgetFinished() {
  inFlight.clear();
  retired.clear();
  for (void *memory : retiredMemory)
    owner->freeUnused(memory);
  retiredMemory.clear();
  scalarCount = 0;
}

Result<void> Stream::readTimings() {
  Result<void> all;
  for (const Timing &timing : timings) {
    Result<uint64_t> ns = timedEvents.elapsed(timing.start, timing.end);
    if (ns)
      durations.push_back(*ns);
    else
      all = ns.takeError();
    timedEvents.give(timing.start);
    if (timing.end != timing.start)
      timedEvents.give(timing.end);
  }
  timings.clear();
  return all;
}

Result<void> Stream::wait() {
  std::lock_guard lock(mutex);
  return finishLocked();
}

Result<std::vector<uint64_t>> Stream::profile() {
  std::lock_guard lock(mutex);
  QUERN_RETURN_IF_ERROR(finishLocked());
  return durations;
}

Result<void> Stream::resetProfile() {
  std::lock_guard lock(mutex);
  Result<void> done = finishLocked();
  durations.clear();
  return done;
}

} // namespace quern::ze
