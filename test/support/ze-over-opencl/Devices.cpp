//===- Devices.cpp - Driver, devices and contexts --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <algorithm>
#include <cstdio>

namespace zocl {
namespace {

ze_result_t init(ze_init_flags_t flags) {
  const bool fits = !flags || (flags & ZE_INIT_FLAG_GPU_ONLY);
  return fits && !devices().empty() ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

/// A query of a list, which is asked for its length first.
template <typename Item, typename Out> ze_result_t giveList(const Item *items, size_t size, uint32_t *count, Out *out) {
  if (!*count || *count > size)
    *count = static_cast<uint32_t>(size);
  for (uint32_t i = 0; out && i < *count; ++i)
    out[i] = (Out)items[i];
  return ZE_RESULT_SUCCESS;
}

/// Zeroes properties, but for what the application has filled in.
template <typename Properties> void clear(Properties *properties) {
  *properties = Properties{.stype = properties->stype, .pNext = properties->pNext};
}

ze_result_t getDrivers(uint32_t *count, ze_driver_handle_t *out) {
  const void *driver = &devices();
  return giveList(&driver, devices().empty() ? 0 : 1, count, out);
}
ze_result_t getApiVersion(ze_driver_handle_t, ze_api_version_t *version) {
  *version = ZE_API_VERSION_CURRENT;
  return ZE_RESULT_SUCCESS;
}
ze_result_t getDriverProperties(ze_driver_handle_t, ze_driver_properties_t *out) {
  clear(out);
  out->driverVersion = 1;
  return ZE_RESULT_SUCCESS;
}
ze_result_t getDevices(ze_driver_handle_t, uint32_t *count, ze_device_handle_t *out) {
  return giveList(devices().data(), devices().size(), count, out);
}

ze_result_t getDeviceProperties(ze_device_handle_t handle, ze_device_properties_t *out) {
  const Device &device = *as<Device>(handle);
  clear(out);
  out->type = ZE_DEVICE_TYPE_GPU;
  out->vendorId = device.info<cl_uint>(CL_DEVICE_VENDOR_ID);
  out->maxMemAllocSize = device.info<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  out->timerResolution = out->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 ? 1000000000 : 1; // in 1/s, or in ns
  out->timestampValidBits = out->kernelTimestampValidBits = 64;
  std::snprintf(out->name, sizeof out->name, "%s", device.name.c_str());
  return ZE_RESULT_SUCCESS;
}

ze_result_t getComputeProperties(ze_device_handle_t handle, ze_device_compute_properties_t *out) {
  const Device &device = *as<Device>(handle);
  clear(out);
  const auto group = static_cast<uint32_t>(std::min<size_t>(settings().maxGroupSize, device.info<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE)));
  out->maxTotalGroupSize = out->maxGroupSizeX = out->maxGroupSizeY = out->maxGroupSizeZ = group;
  out->maxGroupCountX = out->maxGroupCountY = out->maxGroupCountZ = UINT32_MAX;
  out->maxSharedLocalMemory =
      static_cast<uint32_t>(std::min<cl_ulong>(settings().maxLocalMemory, device.info<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE)));
  out->numSubGroupSizes = static_cast<uint32_t>(device.subGroupSizes.size());
  std::copy(device.subGroupSizes.begin(), device.subGroupSizes.end(), out->subGroupSizes);
  return ZE_RESULT_SUCCESS;
}

ze_result_t getModuleProperties(ze_device_handle_t handle, ze_device_module_properties_t *out) {
  const Device &device = *as<Device>(handle);
  clear(out);
  out->spirvVersionSupported = ZE_MAKE_VERSION(1, 4);
  if (device.text(CL_DEVICE_EXTENSIONS).find("cl_khr_fp16") != std::string::npos)
    out->flags |= ZE_DEVICE_MODULE_FLAG_FP16;
  if (settings().hasF64 && device.info<cl_ulong>(CL_DEVICE_DOUBLE_FP_CONFIG))
    out->flags |= ZE_DEVICE_MODULE_FLAG_FP64;
  return ZE_RESULT_SUCCESS;
}

ze_result_t getQueueGroups(ze_device_handle_t, uint32_t *count, ze_command_queue_group_properties_t *out) {
  if (*count && out) {
    clear(out);
    out->flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
    out->numQueues = 4;
  }
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t createContext(ze_driver_handle_t, const ze_context_desc_t *, ze_context_handle_t *out) {
  std::vector<cl_device_id> ids;
  for (const Device *device : devices())
    ids.push_back(device->id);
  cl_int error = CL_SUCCESS;
  cl_context id = cl.clCreateContext(nullptr, static_cast<cl_uint>(ids.size()), ids.data(), nullptr, nullptr, &error);
  if (error)
    return translate(error);
  auto *context = new Context;
  context->id = id;
  return give(context, out);
}
ze_result_t destroyContext(ze_context_handle_t handle) {
  cl.clReleaseContext(as<Context>(handle)->id);
  return destroy<Context>(handle);
}

} // namespace

void fill(ze_global_dditable_t &table) { table.pfnInit = init; }
void fill(ze_driver_dditable_t &table) {
  table.pfnGet = getDrivers;
  table.pfnGetApiVersion = getApiVersion;
  table.pfnGetProperties = mayFail<getDriverProperties>;
}
void fill(ze_device_dditable_t &table) {
  table.pfnGet = mayFail<getDevices>;
  table.pfnGetProperties = mayFail<getDeviceProperties>;
  table.pfnGetComputeProperties = mayFail<getComputeProperties>;
  table.pfnGetModuleProperties = mayFail<getModuleProperties>;
  table.pfnGetCommandQueueGroupProperties = mayFail<getQueueGroups>;
}
void fill(ze_context_dditable_t &table) {
  table.pfnCreate = mayFail<createContext>;
  table.pfnDestroy = destroyContext;
}

} // namespace zocl
