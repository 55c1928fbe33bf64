//===- Queues.cpp - Command queues, command lists and events ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace zocl {
namespace {

struct Event : Counted {
  bool isSet = false;
  uint64_t start = 0, end = 0; ///< time of the command that signaled it, in ns
};
struct EventPool : Counted {
  uint32_t count = 0;
};

struct Command {
  Enqueue enqueue{}; ///< none: waits for the device
  bool isBarrier = false;
  Event *signal = nullptr;
  std::vector<Event *> waits{};
};
using Commands = std::vector<Command>;

/// State that all queues share. `changed` is notified of changes of data that the mutex guards: this, jobs and events.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  ze_result_t lost = ZE_RESULT_SUCCESS; ///< DEVICE_LOST after an error in a queue
  size_t unfinished = 0;                ///< jobs of all queues
};
Shared &shared = *new Shared; // never destroyed: threads of queues may outlive main()

/// Changes shared state and wakes all waiting threads.
template <typename Change> void change(Change makeChange) {
  {
    std::lock_guard lock(shared.mutex);
    makeChange();
  }
  shared.changed.notify_all();
}

/// Waits for `isDone`, or until the device is lost, which every later wait also returns. Returns NOT_READY after
/// `timeout` ns.
template <typename IsDone> ze_result_t waitFor(uint64_t timeout, IsDone isDone) {
  std::unique_lock lock(shared.mutex);
  const auto isReady = [&] { return isDone() || shared.lost; };
  if (timeout > UINT64_MAX / 4)
    shared.changed.wait(lock, isReady);
  else if (!shared.changed.wait_for(lock, std::chrono::nanoseconds(timeout), isReady))
    return ZE_RESULT_NOT_READY;
  return shared.lost;
}

bool allSet(const std::vector<Event *> &events) {
  return std::all_of(events.begin(), events.end(), [](const Event *event) { return event->isSet; });
}
ze_result_t setEvent(Event &event, bool isSet, uint64_t start = 0, uint64_t end = 0) {
  change([&] { event.isSet = isSet, event.start = start, event.end = end; });
  return ZE_RESULT_SUCCESS;
}

/// Runs submitted commands in order on a separate thread.
class Queue : public Counted {
public:
  Queue(std::shared_ptr<_cl_command_queue> queue, Device &device, bool isSynchronous)
      : queue(std::move(queue)), device(device), isSynchronous(isSynchronous), worker([this] { work(); }) {}
  ~Queue() {
    change([this] { isStopping = true; }); // jobs that need not wait are finished first
    worker.join();
  }

  ze_result_t submit(std::shared_ptr<const Commands> commands) {
    if (ze_result_t lost = waitFor(0, [] { return true; }))
      return lost;
    change([&] {
      jobs.push_back(std::move(commands));
      ++shared.unfinished;
    });
    return isSynchronous ? synchronize(UINT64_MAX) : ZE_RESULT_SUCCESS;
  }
  ze_result_t synchronize(uint64_t timeout) {
    return waitFor(timeout, [this] { return jobs.empty(); });
  }

private:
  void work() {
    std::unique_lock lock(shared.mutex);
    for (;;) {
      shared.changed.wait(lock, [&] { return isStopping || !jobs.empty(); });
      if (jobs.empty())
        return;
      const Commands &commands = *jobs.front();
      lock.unlock();
      const ze_result_t result = run(commands);
      change([&] {
        jobs.pop_front();
        --shared.unfinished;
        if (!result || result == ZE_RESULT_NOT_READY)
          return;
        say("a command failed in a queue (0x", std::hex, result, "): the device is lost");
        shared.lost = ZE_RESULT_ERROR_DEVICE_LOST;
      });
      lock.lock();
    }
  }

  /// Runs commands as recorded, or in reverse order: Level Zero does not order commands between two barriers, so
  /// running the last ready command first reveals a missing barrier or event.
  ze_result_t run(const Commands &commands) {
    const DeviceAccess access;
    std::deque<const Command *> left;
    for (const Command &command : commands)
      left.push_back(&command);
    while (!left.empty()) {
      size_t pick = 0;
      if (settings.isReversing) {
        std::lock_guard lock(shared.mutex);
        for (size_t i = 0; i < left.size() && !left[i]->isBarrier; ++i)
          if (allSet(left[i]->waits))
            pick = i;
      }
      if (ze_result_t result = runOne(*left[pick]))
        return result;
      left.erase(left.begin() + static_cast<ptrdiff_t>(pick));
    }
    return translate(cl.clFinish(queue.get()));
  }

  /// Returns NOT_READY if the queue ends or the device is lost before the command may run.
  ze_result_t runOne(const Command &command) {
    bool isReady = false;
    if (waitFor(UINT64_MAX, [&] { return (isReady = allSet(command.waits)) || isStopping; }) || !isReady)
      return ZE_RESULT_NOT_READY;
    cl_event event = nullptr;
    ze_result_t result = command.enqueue ? command.enqueue(queue.get(), command.signal ? &event : nullptr)
                                         : translate(cl.clFinish(queue.get()));
    if (result || !command.signal)
      return result;
    cl_ulong start = 0, end = 0;
    if (event) {
      result = translate(cl.clWaitForEvents(1, &event));
      start = query<cl_ulong>(cl.clGetEventProfilingInfo, event, CL_PROFILING_COMMAND_START);
      end = query<cl_ulong>(cl.clGetEventProfilingInfo, event, CL_PROFILING_COMMAND_END);
      cl.clReleaseEvent(event);
    } else { // use the same clock
      cl_ulong host = 0;
      cl.clGetDeviceAndHostTimer(device.id, &start, &host);
      end = start;
    }
    return result ? result : setEvent(*command.signal, true, start, end);
  }

  const std::shared_ptr<_cl_command_queue> queue;
  Device &device;
  const bool isSynchronous;
  bool isStopping = false;
  std::deque<std::shared_ptr<const Commands>> jobs; ///< the first job is running
  std::thread worker;                               ///< initialized last, because it uses the other members
};

struct List : Counted {
  std::unique_ptr<Queue> immediate{}; ///< queue of an immediate list, which has no commands
  std::shared_ptr<Commands> commands = std::make_shared<Commands>();
  bool isClosed = false;
};

ze_result_t createQueue(ze_context_handle_t context, ze_device_handle_t handle, const ze_command_queue_desc_t *desc,
                        ze_command_queue_handle_t *out) {
  if (desc->ordinal)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  Device &device = *as<Device>(handle);
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  cl_int error = CL_SUCCESS;
  auto queue = own(cl.clCreateCommandQueueWithProperties(as<Context>(context)->id.get(), device.id, properties, &error),
                   cl.clReleaseCommandQueue);
  return error ? translate(error)
               : give(new Queue(queue, device, desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS), out);
}
ze_result_t execute(ze_command_queue_handle_t queue, uint32_t count, ze_command_list_handle_t *lists,
                    ze_fence_handle_t fence) {
  if (fence)
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  if (!std::all_of(lists, lists + count, [](ze_command_list_handle_t list) { return as<List>(list)->isClosed; }))
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  ze_result_t result = ZE_RESULT_SUCCESS;
  for (uint32_t i = 0; i < count && !result; ++i)
    result = as<Queue>(queue)->submit(as<List>(lists[i])->commands);
  return result;
}
ze_result_t synchronize(ze_command_queue_handle_t queue, uint64_t timeout) {
  return as<Queue>(queue)->synchronize(timeout);
}

ze_result_t createList(ze_context_handle_t, ze_device_handle_t, const ze_command_list_desc_t *desc,
                       ze_command_list_handle_t *out) {
  return desc->commandQueueGroupOrdinal ? ZE_RESULT_ERROR_INVALID_ARGUMENT : give(new List, out);
}
ze_result_t createImmediate(ze_context_handle_t context, ze_device_handle_t device, const ze_command_queue_desc_t *desc,
                            ze_command_list_handle_t *out) {
  ze_command_queue_handle_t queue;
  const ze_result_t failed = createQueue(context, device, desc, &queue);
  return failed ? failed : give(new List{{}, std::unique_ptr<Queue>(as<Queue>(queue))}, out);
}
ze_result_t close(ze_command_list_handle_t handle) {
  List &list = *as<List>(handle);
  if (list.immediate || list.isClosed)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  list.isClosed = true;
  return ZE_RESULT_SUCCESS;
}
ze_result_t reset(ze_command_list_handle_t handle) {
  List &list = *as<List>(handle);
  if (list.immediate)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  list.commands = std::make_shared<Commands>(); // a running queue keeps the old ones
  list.isClosed = false;
  return ZE_RESULT_SUCCESS;
}

ze_result_t append(ze_command_list_handle_t handle, Command command, ze_event_handle_t signal, uint32_t count,
                   ze_event_handle_t *waits) {
  List &list = *as<List>(handle);
  command.signal = as<Event>(signal);
  std::transform(waits, waits + count, std::back_inserter(command.waits), as<Event, ze_event_handle_t>);
  if (list.immediate)
    return list.immediate->submit(std::make_shared<const Commands>(1, std::move(command)));
  if (list.isClosed)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  list.commands->push_back(std::move(command));
  return ZE_RESULT_SUCCESS;
}
ze_result_t appendLaunch(ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
                         ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
  Command command;
  const ze_result_t failed = makeLaunch(kernel, *groups, command.enqueue);
  return failed ? failed : append(list, std::move(command), signal, count, waits);
}
ze_result_t appendCopy(ze_command_list_handle_t list, void *to, const void *from, size_t size, ze_event_handle_t signal,
                       uint32_t count, ze_event_handle_t *waits) {
  const auto copy = [=](cl_command_queue queue, cl_event *event) {
    return translate(cl.clEnqueueMemcpyINTEL(queue, CL_FALSE, to, from, size, 0, nullptr, event));
  };
  return append(list, size ? Command{.enqueue = copy} : Command(), signal, count, waits);
}
ze_result_t appendBarrier(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t count,
                          ze_event_handle_t *waits) {
  return append(list, {.isBarrier = true}, signal, count, waits);
}
ze_result_t appendWait(ze_command_list_handle_t list, uint32_t count, ze_event_handle_t *waits) {
  return appendBarrier(list, nullptr, count, waits);
}
ze_result_t appendReset(ze_command_list_handle_t list, ze_event_handle_t event) {
  const auto reset = [event](cl_command_queue queue, cl_event *) {
    cl.clFinish(queue);
    return setEvent(*as<Event>(event), false);
  };
  return append(list, {.enqueue = reset}, nullptr, 0, nullptr);
}

ze_result_t createPool(ze_context_handle_t, const ze_event_pool_desc_t *desc, uint32_t, ze_device_handle_t *,
                       ze_event_pool_handle_t *out) {
  return give(new EventPool{{}, desc->count}, out);
}
ze_result_t createEvent(ze_event_pool_handle_t pool, const ze_event_desc_t *desc, ze_event_handle_t *out) {
  return desc->index < as<EventPool>(pool)->count ? give(new Event, out) : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
ze_result_t signalEvent(ze_event_handle_t event) { return setEvent(*as<Event>(event), true); }
ze_result_t resetEvent(ze_event_handle_t event) { return setEvent(*as<Event>(event), false); }
ze_result_t waitForEvent(ze_event_handle_t event, uint64_t timeout) {
  return waitFor(timeout, [=] { return as<Event>(event)->isSet; });
}
ze_result_t queryTimestamp(ze_event_handle_t handle, ze_kernel_timestamp_result_t *out) {
  const Event &event = *as<Event>(handle);
  std::lock_guard lock(shared.mutex);
  *out = {{event.start, event.end}, {event.start, event.end}};
  return event.isSet ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

} // namespace

void waitForAllQueues() {
  waitFor(UINT64_MAX, [] { return !shared.unfinished; });
}

void addQueues(ze_dditable_t &tables) {
  tables.CommandQueue.pfnCreate = mayFail<createQueue>;
  tables.CommandQueue.pfnDestroy = destroy<Queue>;
  tables.CommandQueue.pfnExecuteCommandLists = mayFail<execute>;
  tables.CommandQueue.pfnSynchronize = mayFail<synchronize>;
  tables.CommandList.pfnCreate = mayFail<createList>;
  tables.CommandList.pfnCreateImmediate = mayFail<createImmediate>;
  tables.CommandList.pfnDestroy = destroy<List>;
  tables.CommandList.pfnClose = mayFail<close>;
  tables.CommandList.pfnReset = mayFail<reset>;
  tables.CommandList.pfnAppendLaunchKernel = mayFail<appendLaunch>;
  tables.CommandList.pfnAppendMemoryCopy = mayFail<appendCopy>;
  tables.CommandList.pfnAppendBarrier = mayFail<appendBarrier>;
  tables.CommandList.pfnAppendWaitOnEvents = mayFail<appendWait>;
  tables.CommandList.pfnAppendEventReset = mayFail<appendReset>;
  tables.EventPool.pfnCreate = mayFail<createPool>;
  tables.EventPool.pfnDestroy = destroy<EventPool>;
  tables.Event.pfnCreate = mayFail<createEvent>;
  tables.Event.pfnDestroy = destroy<Event>;
  tables.Event.pfnHostSignal = mayFail<signalEvent>;
  tables.Event.pfnHostSynchronize = mayFail<waitForEvent>;
  tables.Event.pfnHostReset = mayFail<resetEvent>;
  tables.Event.pfnQueryKernelTimestamp = mayFail<queryTimestamp>;
}

} // namespace zocl
