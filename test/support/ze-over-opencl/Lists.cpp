//===- Lists.cpp - Command queues, command lists and events ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Modules.h"
#include "Queue.h"

#include <algorithm>

namespace zocl {
namespace {

struct List : Counted {
  std::unique_ptr<Queue> immediate; ///< of an immediate list, which has no commands
  std::shared_ptr<Commands> commands = std::make_shared<Commands>();
  bool isClosed = false;
};
struct EventPool : Counted {
  uint32_t count = 0;
};

ze_result_t createQueue(ze_context_handle_t context, ze_device_handle_t device, const ze_command_queue_desc_t *desc,
                        ze_command_queue_handle_t *out) {
  if (desc->ordinal)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const bool isSynchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  auto queue = std::make_unique<Queue>(*as<Context>(context), *as<Device>(device), isSynchronous);
  return queue->error ? translate(queue->error) : give(queue.release(), out);
}
ze_result_t execute(ze_command_queue_handle_t queue, uint32_t count, ze_command_list_handle_t *lists, ze_fence_handle_t fence) {
  if (fence)
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  for (uint32_t i = 0; i < count; ++i)
    if (!as<List>(lists[i])->isClosed)
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  ze_result_t result = ZE_RESULT_SUCCESS;
  for (uint32_t i = 0; i < count && !result; ++i)
    result = as<Queue>(queue)->submit(as<List>(lists[i])->commands);
  return result;
}
ze_result_t synchronize(ze_command_queue_handle_t queue, uint64_t timeout) { return as<Queue>(queue)->synchronize(timeout); }

ze_result_t createList(ze_context_handle_t, ze_device_handle_t, const ze_command_list_desc_t *desc, ze_command_list_handle_t *out) {
  return desc->commandQueueGroupOrdinal ? ZE_RESULT_ERROR_INVALID_ARGUMENT : give(new List, out);
}
ze_result_t createImmediate(ze_context_handle_t context, ze_device_handle_t device, const ze_command_queue_desc_t *desc,
                            ze_command_list_handle_t *out) {
  ze_command_queue_handle_t queue;
  if (ze_result_t failed = createQueue(context, device, desc, &queue))
    return failed;
  auto *list = new List;
  list->immediate.reset(as<Queue>(queue));
  return give(list, out);
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
  list.commands = std::make_shared<Commands>(); // a queue at work keeps the old ones
  list.isClosed = false;
  return ZE_RESULT_SUCCESS;
}

ze_result_t append(ze_command_list_handle_t handle, Command command, ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
  List &list = *as<List>(handle);
  command.signal = as<Event>(signal);
  for (uint32_t i = 0; i < count; ++i)
    command.waits.push_back(as<Event>(waits[i]));
  if (list.immediate)
    return list.immediate->submit(std::make_shared<const Commands>(1, std::move(command)));
  if (list.isClosed)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  list.commands->push_back(std::move(command));
  return ZE_RESULT_SUCCESS;
}

/// A launch with the arguments that the kernel has now.
struct Launch {
  Kernel kernel;
  std::array<size_t, 3> global;

  ze_result_t operator()(cl_command_queue queue, cl_event *event) const {
    if (settings().isTracing)
      say("%s over %zux%zux%zu in groups of %zu", kernel.info.name.c_str(), global[0], global[1], global[2], kernel.group[0]);
    std::lock_guard lock(kernel.object->mutex);
    const cl_kernel id = kernel.object->id;
    for (cl_uint i = 0; i < kernel.values.size(); ++i) {
      const std::string &value = kernel.values[i];
      const void *pointer = kernel.info.arguments[i].isPointer ? pointerIn(value) : nullptr;
      if (pointer && !isAllocated(pointer)) {
        say("argument %u of %s was freed before it ran", i, kernel.info.name.c_str());
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
      }
      if (cl_int error = kernel.info.arguments[i].isPointer ? cl.clSetKernelArgMemPointerINTEL(id, i, pointer)
                                                            : cl.clSetKernelArg(id, i, value.size(), value.data()))
        return translate(error);
    }
    return translate(cl.clEnqueueNDRangeKernel(queue, id, 3, nullptr, global.data(), kernel.group.data(), 0, nullptr, event));
  }
};

ze_result_t appendLaunch(ze_command_list_handle_t list, ze_kernel_handle_t handle, const ze_group_count_t *groups, ze_event_handle_t signal,
                         uint32_t count, ze_event_handle_t *waits) {
  const Kernel &kernel = *as<Kernel>(handle);
  if (std::any_of(kernel.values.begin(), kernel.values.end(), [](const std::string &value) { return value.empty(); }))
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (kernel.localBytes > settings().maxLocalMemory)
    return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  if (kernel.info.groupSize[0] && kernel.info.groupSize != kernel.group)
    return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  Launch launch{kernel, {groups->groupCountX, groups->groupCountY, groups->groupCountZ}};
  for (size_t i = 0; i < 3; ++i)
    launch.global[i] *= kernel.group[i];
  const bool isEmpty = !launch.global[0] || !launch.global[1] || !launch.global[2];
  return append(list, isEmpty ? Command() : Command{.enqueue = std::move(launch)}, signal, count, waits);
}
ze_result_t appendCopy(ze_command_list_handle_t list, void *to, const void *from, size_t size, ze_event_handle_t signal, uint32_t count,
                       ze_event_handle_t *waits) {
  const auto copy = [=](cl_command_queue queue, cl_event *event) {
    return translate(cl.clEnqueueMemcpyINTEL(queue, CL_FALSE, to, from, size, 0, nullptr, event));
  };
  return append(list, size ? Command{.enqueue = copy} : Command(), signal, count, waits);
}
ze_result_t appendBarrier(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
  return append(list, {.isBarrier = true}, signal, count, waits);
}
ze_result_t appendWait(ze_command_list_handle_t list, uint32_t count, ze_event_handle_t *waits) {
  return append(list, {.isBarrier = true}, nullptr, count, waits);
}
ze_result_t appendReset(ze_command_list_handle_t list, ze_event_handle_t event) {
  const auto reset = [event](cl_command_queue queue, cl_event *) {
    cl.clFinish(queue);
    setEvent(*as<Event>(event), false);
    return ZE_RESULT_SUCCESS;
  };
  return append(list, {.enqueue = reset}, nullptr, 0, nullptr);
}

ze_result_t createPool(ze_context_handle_t, const ze_event_pool_desc_t *desc, uint32_t, ze_device_handle_t *, ze_event_pool_handle_t *out) {
  auto *pool = new EventPool;
  pool->count = desc->count;
  return give(pool, out);
}
ze_result_t createEvent(ze_event_pool_handle_t pool, const ze_event_desc_t *desc, ze_event_handle_t *out) {
  return desc->index < as<EventPool>(pool)->count ? give(new Event, out) : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
ze_result_t signalEvent(ze_event_handle_t event) {
  setEvent(*as<Event>(event), true);
  return ZE_RESULT_SUCCESS;
}
ze_result_t resetEvent(ze_event_handle_t event) {
  setEvent(*as<Event>(event), false);
  return ZE_RESULT_SUCCESS;
}
ze_result_t waitForEvent(ze_event_handle_t event, uint64_t timeout) {
  return waitFor(timeout, [=] { return as<Event>(event)->isSet; });
}
ze_result_t queryTimestamp(ze_event_handle_t handle, ze_kernel_timestamp_result_t *out) {
  ze_result_t result = ZE_RESULT_NOT_READY;
  readEvents([&] {
    const Event &event = *as<Event>(handle);
    *out = {{event.start, event.end}, {event.start, event.end}};
    result = event.isSet ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
  });
  return result;
}

} // namespace

void fill(ze_command_queue_dditable_t &table) {
  table.pfnCreate = mayFail<createQueue>;
  table.pfnDestroy = destroy<Queue>;
  table.pfnExecuteCommandLists = mayFail<execute>;
  table.pfnSynchronize = mayFail<synchronize>;
}
void fill(ze_command_list_dditable_t &table) {
  table.pfnCreate = mayFail<createList>;
  table.pfnCreateImmediate = mayFail<createImmediate>;
  table.pfnDestroy = destroy<List>;
  table.pfnClose = mayFail<close>;
  table.pfnReset = mayFail<reset>;
  table.pfnAppendLaunchKernel = mayFail<appendLaunch>;
  table.pfnAppendMemoryCopy = mayFail<appendCopy>;
  table.pfnAppendBarrier = mayFail<appendBarrier>;
  table.pfnAppendWaitOnEvents = mayFail<appendWait>;
  table.pfnAppendEventReset = mayFail<appendReset>;
}
void fill(ze_event_pool_dditable_t &table) {
  table.pfnCreate = mayFail<createPool>;
  table.pfnDestroy = destroy<EventPool>;
}
void fill(ze_event_dditable_t &table) {
  table.pfnCreate = mayFail<createEvent>;
  table.pfnDestroy = destroy<Event>;
  table.pfnHostSignal = mayFail<signalEvent>;
  table.pfnHostSynchronize = mayFail<waitForEvent>;
  table.pfnHostReset = mayFail<resetEvent>;
  table.pfnQueryKernelTimestamp = mayFail<queryTimestamp>;
}

} // namespace zocl
