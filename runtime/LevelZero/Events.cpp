//===- Events.cpp - Events of a device ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LevelZero/Events.h"

#include <cmath>

namespace quern::ze {

Result<ze_event_handle_t> Events::make() {
  if (events.size() == pools.size() * poolSize) {
    ze_event_pool_desc_t desc{};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
    desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    if (haveTimestamps)
      desc.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
    desc.count = poolSize;
    ze_device_handle_t handle = device.handle();
    ze_event_pool_handle_t pool = nullptr;
    QUERN_ZE_TRY(zeEventPoolCreate, device.context(), &desc, 1, &handle, &pool);
    pools.emplace_back(pool);
  }
  ze_event_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  desc.index = static_cast<uint32_t>(events.size() % poolSize);
  desc.signal = desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_event_handle_t event = nullptr;
  QUERN_ZE_TRY(zeEventCreate, pools.back().get(), &desc, &event);
  events.emplace_back(event);
  return event;
}

Result<ze_event_handle_t> Events::take() {
  if (used.empty())
    return make();
  QUERN_ZE_TRY(zeEventHostReset, used.back());
  ze_event_handle_t event = used.back();
  used.pop_back();
  return event;
}

Result<uint64_t> Events::elapsed(ze_event_handle_t from, ze_event_handle_t to) const {
  ze_kernel_timestamp_result_t first{}, last{};
  QUERN_ZE_TRY(zeEventQueryKernelTimestamp, from, &first);
  QUERN_ZE_TRY(zeEventQueryKernelTimestamp, to, &last);
  const uint64_t start = from == to ? first.global.kernelStart : first.global.kernelEnd;
  const uint64_t ticks = (last.global.kernelEnd - start) & device.properties().tickMask; // the counter wraps around
  return static_cast<uint64_t>(std::llround(static_cast<double>(ticks) * device.properties().nsPerTick));
}

} // namespace quern::ze
