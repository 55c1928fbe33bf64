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

/// Guarded by signals().mutex.
std::set<const Queue *> &allQueues() {
  static auto *queues = new std::set<const Queue *>;
  return *queues;
}

bool areSet(const std::vector<Event *> &events) {
  return std::all_of(events.begin(), events.end(), [](const Event *event) { return event->isSet; });
}

} // namespace

Signals &signals() {
  static auto *all = new Signals; // never destroyed: threads of queues may outlive main()
  return *all;
}

void setEvent(Event &event, bool value, uint64_t start, uint64_t end) {
  {
    std::lock_guard lock(signals().mutex);
    event.isSet = value, event.start = start, event.end = end;
  }
  signals().changed.notify_all();
}

ze_result_t waitFor(uint64_t timeout, const std::function<bool()> &isDone) {
  std::unique_lock lock(signals().mutex);
  const auto isReady = [&] { return isDone() || signals().lost; };
  if (timeout > UINT64_MAX / 4)
    signals().changed.wait(lock, isReady);
  else if (!signals().changed.wait_for(lock, std::chrono::nanoseconds(timeout), isReady))
    return ZE_RESULT_NOT_READY;
  return signals().lost;
}

ze_result_t deviceStatus() {
  std::lock_guard lock(signals().mutex);
  return signals().lost;
}

Queue::Queue(const Context &context, Device &device, bool isSynchronous) : device(device), isSynchronous(isSynchronous) {
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  queue = cl.clCreateCommandQueueWithProperties(context.id, device.id, properties, &error);
  if (error)
    return;
  std::lock_guard lock(signals().mutex);
  allQueues().insert(this);
  worker = std::thread([this] { work(); });
}

Queue::~Queue() {
  {
    std::lock_guard lock(signals().mutex);
    isStopping = true;
    allQueues().erase(this);
  }
  signals().changed.notify_all();
  if (worker.joinable())
    worker.join();
  if (queue)
    cl.clReleaseCommandQueue(queue);
}

ze_result_t Queue::submit(std::shared_ptr<const Commands> commands) {
  {
    std::lock_guard lock(signals().mutex);
    if (signals().lost)
      return signals().lost;
    jobs.push_back(std::move(commands));
    ++submitted;
  }
  signals().changed.notify_all();
  return isSynchronous ? synchronize(UINT64_MAX) : ZE_RESULT_SUCCESS;
}

ze_result_t Queue::synchronize(uint64_t timeout) {
  uint64_t target;
  {
    std::lock_guard lock(signals().mutex);
    target = submitted;
  }
  return waitFor(timeout, [&] { return completed >= target; });
}

void Queue::waitForAll() {
  const auto isIdle = [](const Queue *queue) { return queue->completed == queue->submitted; };
  waitFor(UINT64_MAX, [&] { return std::all_of(allQueues().begin(), allQueues().end(), isIdle); });
}

void Queue::work() {
  std::unique_lock lock(signals().mutex);
  for (;;) {
    signals().changed.wait(lock, [&] { return isStopping || !jobs.empty(); });
    if (jobs.empty())
      return;
    std::shared_ptr<const Commands> commands = std::move(jobs.front());
    jobs.pop_front();
    lock.unlock();
    {
      DeviceAccess access;
      run(*commands);
    }
    commands.reset();
    lock.lock();
    ++completed;
    signals().changed.notify_all();
  }
}

/// Commands between two barriers are unordered in Level Zero. Normally they run as they were recorded; to run the last one that is ready
/// first shows where a barrier or an event is missing.
void Queue::run(const Commands &commands) {
  for (size_t begin = 0, end; begin < commands.size(); begin = end) {
    for (end = begin + 1; end < commands.size() && !commands[begin].isBarrier && !commands[end].isBarrier;)
      ++end;
    std::deque<const Command *> left;
    for (size_t i = begin; i < end; ++i)
      left.push_back(&commands[i]);
    while (!left.empty()) {
      size_t pick = settings().isReversing ? left.size() - 1 : 0;
      for (; settings().isReversing && pick; --pick)
        if (std::lock_guard lock(signals().mutex); areSet(left[pick]->waits))
          break;
      if (!runOne(*left[pick]))
        return;
      left.erase(left.begin() + static_cast<ptrdiff_t>(pick));
    }
  }
  if (cl_int finished = cl.clFinish(queue))
    fail("clFinish", translate(finished));
}

bool Queue::runOne(const Command &command) {
  {
    std::unique_lock lock(signals().mutex);
    signals().changed.wait(lock, [&] { return isStopping || signals().lost || areSet(command.waits); });
    if (signals().lost || !areSet(command.waits))
      return false;
  }
  uint64_t start = 0, end = 0;
  if (command.enqueue) {
    if (!runOnDevice(command, start, end))
      return false;
  } else {
    cl.clFinish(queue);
    start = command.signal ? device.time() : 0;
    if (command.host)
      command.host();
    end = command.signal ? device.time() : 0;
  }
  if (command.signal)
    setEvent(*command.signal, true, start, end);
  return true;
}

bool Queue::runOnDevice(const Command &command, uint64_t &start, uint64_t &end) {
  cl_event event = nullptr;
  if (ze_result_t result = command.enqueue(queue, command.signal ? &event : nullptr)) {
    fail("a command", result);
    return false;
  }
  if (!event)
    return true;
  if (cl_int waited = cl.clWaitForEvents(1, &event)) {
    fail("clWaitForEvents", translate(waited));
    return false;
  }
  cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
  cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
  cl.clReleaseEvent(event);
  return true;
}

void Queue::fail(const char *what, ze_result_t result) {
  say("%s failed in a queue (0x%x): the device is lost", what, static_cast<unsigned>(result));
  {
    std::lock_guard lock(signals().mutex);
    signals().lost = ZE_RESULT_ERROR_DEVICE_LOST;
  }
  signals().changed.notify_all();
}

} // namespace zocl
