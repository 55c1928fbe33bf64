//===- Queue.cpp - Events, commands and queues -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Queue.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace zocl {
namespace {

/// What all queues share. `changed` tells of any change to what the mutex guards: this, the progress of queues, and events.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  ze_result_t lost = ZE_RESULT_SUCCESS; ///< DEVICE_LOST after an error in a queue
  std::set<const Queue *> queues;
};
Shared &shared = *new Shared; // never destroyed: threads of queues may outlive main()

bool areSet(const std::vector<Event *> &events) {
  return std::all_of(events.begin(), events.end(), [](const Event *event) { return event->isSet; });
}

/// Changes something that others may wait for.
template <typename Change> void change(Change makeChange) {
  {
    std::lock_guard lock(shared.mutex);
    makeChange();
  }
  shared.changed.notify_all();
}

} // namespace

void setEvent(Event &event, bool value, uint64_t start, uint64_t end) {
  change([&] { event.isSet = value, event.start = start, event.end = end; });
}

void readEvents(const std::function<void()> &read) {
  std::lock_guard lock(shared.mutex);
  read();
}

ze_result_t waitFor(uint64_t timeout, const std::function<bool()> &isDone) {
  std::unique_lock lock(shared.mutex);
  const auto isReady = [&] { return isDone() || shared.lost; };
  if (timeout > UINT64_MAX / 4)
    shared.changed.wait(lock, isReady);
  else if (!shared.changed.wait_for(lock, std::chrono::nanoseconds(timeout), isReady))
    return ZE_RESULT_NOT_READY;
  return shared.lost;
}

Queue::Queue(const Context &context, Device &device, bool isSynchronous) : device(device), isSynchronous(isSynchronous) {
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  queue = cl.clCreateCommandQueueWithProperties(context.id, device.id, properties, &error);
  if (error)
    return;
  std::lock_guard lock(shared.mutex);
  shared.queues.insert(this);
  worker = std::thread([this] { work(); });
}

Queue::~Queue() {
  change([&] {
    isStopping = true;
    shared.queues.erase(this);
  });
  if (worker.joinable())
    worker.join();
  if (queue)
    cl.clReleaseCommandQueue(queue);
}

ze_result_t Queue::submit(std::shared_ptr<const Commands> commands) {
  if (ze_result_t lost = waitFor(0, [] { return true; }))
    return lost;
  change([&] {
    jobs.push_back(std::move(commands));
    ++submitted;
  });
  return isSynchronous ? synchronize(UINT64_MAX) : ZE_RESULT_SUCCESS;
}

ze_result_t Queue::synchronize(uint64_t timeout) {
  return waitFor(timeout, [this] { return completed == submitted; });
}

void Queue::waitForAll() {
  const auto isIdle = [](const Queue *queue) { return queue->completed == queue->submitted; };
  waitFor(UINT64_MAX, [&] { return std::all_of(shared.queues.begin(), shared.queues.end(), isIdle); });
}

void Queue::work() {
  std::unique_lock lock(shared.mutex);
  for (;;) {
    shared.changed.wait(lock, [&] { return isStopping || !jobs.empty(); });
    if (jobs.empty())
      return;
    std::shared_ptr<const Commands> commands = std::move(jobs.front());
    jobs.pop_front();
    lock.unlock();
    ze_result_t result;
    {
      DeviceAccess access;
      result = run(*commands);
    }
    commands.reset();
    if (result && result != ZE_RESULT_NOT_READY)
      say("a command failed in a queue (0x%x): the device is lost", static_cast<unsigned>(result));
    change([&] {
      ++completed;
      if (result && result != ZE_RESULT_NOT_READY)
        shared.lost = ZE_RESULT_ERROR_DEVICE_LOST;
    });
    lock.lock();
  }
}

/// Commands between two barriers are unordered in Level Zero. Normally they run as they were recorded; to run the last one that is ready
/// first shows where a barrier or an event is missing.
ze_result_t Queue::run(const Commands &commands) {
  for (size_t begin = 0, end; begin < commands.size(); begin = end) {
    for (end = begin + 1; end < commands.size() && !commands[begin].isBarrier && !commands[end].isBarrier;)
      ++end;
    std::deque<const Command *> left;
    for (size_t i = begin; i < end; ++i)
      left.push_back(&commands[i]);
    while (!left.empty()) {
      size_t pick = settings().isReversing ? left.size() - 1 : 0;
      readEvents([&] {
        while (pick > 0 && !areSet(left[pick]->waits))
          --pick;
      });
      if (ze_result_t result = runOne(*left[pick]))
        return result;
      left.erase(left.begin() + static_cast<ptrdiff_t>(pick));
    }
  }
  return translate(cl.clFinish(queue));
}

/// NOT_READY if the queue ends, or the device is lost, before the command may run.
ze_result_t Queue::runOne(const Command &command) {
  bool isReady = false;
  if (waitFor(UINT64_MAX, [&] { return (isReady = areSet(command.waits)) || isStopping; }) || !isReady)
    return ZE_RESULT_NOT_READY;
  cl_event event = nullptr;
  uint64_t start = 0, end = 0;
  ze_result_t result = command.enqueue ? command.enqueue(queue, command.signal ? &event : nullptr) : translate(cl.clFinish(queue));
  if (result || !command.signal)
    return result;
  if (event) {
    result = translate(cl.clWaitForEvents(1, &event));
    cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
    cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
    cl.clReleaseEvent(event);
  } else {
    start = end = device.time();
  }
  if (!result)
    setEvent(*command.signal, true, start, end);
  return result;
}

} // namespace zocl
