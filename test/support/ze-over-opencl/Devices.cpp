//===- Devices.cpp - OpenCL, its devices and contexts ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace zocl {
namespace {

#define ZOCL_LOAD(name)                                                                                                \
  if (!(cl.name = reinterpret_cast<decltype(cl.name)>(find(#name))))                                                   \
    return false;
bool loadCore(void *library) {
  const auto find = [=](const char *name) { return dlsym(library, name); };
  ZOCL_CORE_FUNCTIONS(ZOCL_LOAD)
  return true;
}
bool loadExtensions(cl_platform_id platform) {
  const auto find = [=](const char *name) { return cl.clGetExtensionFunctionAddressForPlatform(platform, name); };
  ZOCL_EXTENSION_FUNCTIONS(ZOCL_LOAD)
  return true;
}
#undef ZOCL_LOAD

/// Returns the list of a clGet…IDs(of…) function.
template <typename Id, typename Function, typename... Of> std::vector<Id> listIds(Function function, Of... of) {
  cl_uint count = 0;
  function(of..., 0, nullptr, &count);
  std::vector<Id> ids(count);
  function(of..., count, ids.data(), nullptr);
  return ids;
}

Device *makeDevice(cl_device_id id) {
  constexpr cl_device_info subGroupSizes = 0x4108; // CL_DEVICE_SUB_GROUP_SIZES_INTEL
  auto *device = new Device{id, queryText(cl.clGetDeviceInfo, id, CL_DEVICE_NAME) + " (Level Zero over OpenCL)", {}};
  const std::string wanted = "," + std::string(settings.subGroupSizes) + ",";
  for (size_t size : device->info<std::array<size_t, 16>>(subGroupSizes)) // zeros after the last size
    if (size && wanted.find("," + std::to_string(size) + ",") != std::string::npos)
      device->subGroupSizes.push_back(static_cast<uint32_t>(size));
  return device;
}

std::vector<Device *> findDevices() {
  std::vector<Device *> found;
  void *library = dlopen(settings.library, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    say(dlerror());
  if (!library || !loadCore(library))
    return found;
  for (cl_platform_id platform : listIds<cl_platform_id>(cl.clGetPlatformIDs)) {
    if (!loadExtensions(platform))
      continue;
    for (cl_device_id id : listIds<cl_device_id>(cl.clGetDeviceIDs, platform, CL_DEVICE_TYPE_ALL))
      if (queryText(cl.clGetDeviceInfo, id, CL_DEVICE_IL_VERSION).find("SPIR-V") != std::string::npos)
        found.push_back(makeDevice(id));
    if (!found.empty())
      return found;
  }
  say("no OpenCL device with SPIR-V and unified shared memory in ", settings.library);
  return found;
}

ze_result_t init(ze_init_flags_t flags) {
  const bool fits = !flags || (flags & ZE_INIT_FLAG_GPU_ONLY);
  return fits && !devices().empty() ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

/// Answers a query of a list; the application first queries the length.
template <typename Item, typename Out> ze_result_t giveList(const Item *items, size_t size, uint32_t *count, Out *out) {
  if (!*count || *count > size)
    *count = static_cast<uint32_t>(size);
  for (uint32_t i = 0; out && i < *count; ++i)
    out[i] = (Out)items[i];
  return ZE_RESULT_SUCCESS;
}
ze_result_t getDrivers(uint32_t *count, ze_driver_handle_t *out) {
  const void *driver = &devices();
  return giveList(&driver, devices().empty() ? 0 : 1, count, out);
}
ze_result_t getDevices(ze_driver_handle_t, uint32_t *count, ze_device_handle_t *out) {
  return giveList(devices().data(), devices().size(), count, out);
}

/// Zeroes properties except the fields that the application has filled in.
template <typename Properties> void clear(Properties *properties) {
  *properties = Properties{.stype = properties->stype, .pNext = properties->pNext};
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

ze_result_t getDeviceProperties(ze_device_handle_t handle, ze_device_properties_t *out) {
  const Device &device = *as<Device>(handle);
  clear(out);
  const bool isCpu =
      settings.type.empty() ? device.info<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU : settings.type == "cpu";
  out->type = isCpu ? ZE_DEVICE_TYPE_CPU : ZE_DEVICE_TYPE_GPU;
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
  const auto group = static_cast<uint32_t>(
      std::min<size_t>(settings.maxGroupSize, device.info<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE)));
  out->maxTotalGroupSize = out->maxGroupSizeX = out->maxGroupSizeY = out->maxGroupSizeZ = group;
  out->maxGroupCountX = out->maxGroupCountY = out->maxGroupCountZ = UINT32_MAX;
  out->maxSharedLocalMemory = static_cast<uint32_t>(
      std::min<cl_ulong>(settings.maxLocalMemory, device.info<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE)));
  out->numSubGroupSizes = static_cast<uint32_t>(device.subGroupSizes.size());
  std::copy(device.subGroupSizes.begin(), device.subGroupSizes.end(), out->subGroupSizes);
  return ZE_RESULT_SUCCESS;
}

ze_result_t getModuleProperties(ze_device_handle_t handle, ze_device_module_properties_t *out) {
  const Device &device = *as<Device>(handle);
  clear(out);
  out->spirvVersionSupported = ZE_MAKE_VERSION(1, 4);
  if (queryText(cl.clGetDeviceInfo, device.id, CL_DEVICE_EXTENSIONS).find("cl_khr_fp16") != std::string::npos)
    out->flags |= ZE_DEVICE_MODULE_FLAG_FP16;
  if (settings.hasF64 && device.info<cl_ulong>(CL_DEVICE_DOUBLE_FP_CONFIG))
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
  auto id = own(cl.clCreateContext(nullptr, static_cast<cl_uint>(ids.size()), ids.data(), nullptr, nullptr, &error),
                cl.clReleaseContext);
  return error ? translate(error) : give(new Context{{}, id}, out);
}

} // namespace

OpenCl cl;
std::atomic<int64_t> Counted::live{0};

const std::vector<Device *> &devices() {
  // Never destroyed, because threads of queues may outlive main().
  static const auto *found = new std::vector<Device *>(findDevices());
  return *found;
}

ze_result_t translate(cl_int error) {
  static constexpr std::pair<cl_int, ze_result_t> known[] = {
      {CL_SUCCESS, ZE_RESULT_SUCCESS},
      {CL_OUT_OF_HOST_MEMORY, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY},
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY},
      {CL_OUT_OF_RESOURCES, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY},
      {CL_INVALID_BUFFER_SIZE, ZE_RESULT_ERROR_UNSUPPORTED_SIZE},
      {CL_INVALID_WORK_GROUP_SIZE, ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION}};
  for (const auto &[from, to] : known)
    if (from == error)
      return to;
  return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

void addDevices(ze_dditable_t &tables) {
  tables.Global.pfnInit = init;
  tables.Driver.pfnGet = getDrivers;
  tables.Driver.pfnGetApiVersion = getApiVersion;
  tables.Driver.pfnGetProperties = mayFail<getDriverProperties>;
  tables.Device.pfnGet = mayFail<getDevices>;
  tables.Device.pfnGetProperties = mayFail<getDeviceProperties>;
  tables.Device.pfnGetComputeProperties = mayFail<getComputeProperties>;
  tables.Device.pfnGetModuleProperties = mayFail<getModuleProperties>;
  tables.Device.pfnGetCommandQueueGroupProperties = mayFail<getQueueGroups>;
  tables.Context.pfnCreate = mayFail<createContext>;
  tables.Context.pfnDestroy = destroy<Context>;
}

} // namespace zocl
