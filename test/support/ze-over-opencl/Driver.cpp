//===- Driver.cpp - OpenCL, opened at run time, and its devices ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>

namespace zocl {
namespace {

constexpr cl_device_info subGroupSizesQuery = 0x4108; // CL_DEVICE_SUB_GROUP_SIZES_INTEL

const char *setting(const char *name, const char *fallback) {
  const char *value = std::getenv(name);
  return value && *value ? value : fallback;
}
bool isOn(const char *name) { return *setting(name, "0") == '1'; }

bool loadCore(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    say("%s", dlerror());
    return false;
  }
#define ZOCL_LOAD(name)                                                                                                                    \
  if (!(cl.name = reinterpret_cast<decltype(cl.name)>(dlsym(library, #name)))) {                                                           \
    say("%s has no %s", path, #name);                                                                                                      \
    return false;                                                                                                                          \
  }
  ZOCL_CORE_FUNCTIONS(ZOCL_LOAD)
#undef ZOCL_LOAD
  return true;
}

bool loadExtensions(cl_platform_id platform) {
#define ZOCL_LOAD(name)                                                                                                                    \
  if (!(cl.name = reinterpret_cast<decltype(cl.name)>(cl.clGetExtensionFunctionAddressForPlatform(platform, #name))))                      \
    return false;
  ZOCL_EXTENSION_FUNCTIONS(ZOCL_LOAD)
#undef ZOCL_LOAD
  return true;
}

std::vector<uint32_t> subGroupSizesOf(const Device &device) {
  size_t sizes[16], bytes = 0;
  std::vector<uint32_t> taken;
  if (cl.clGetDeviceInfo(device.id, subGroupSizesQuery, sizeof sizes, sizes, &bytes) == CL_SUCCESS)
    for (size_t i = 0; i < bytes / sizeof *sizes; ++i)
      if (settings().subGroupSizes.find("," + std::to_string(sizes[i]) + ",") != std::string::npos)
        taken.push_back(static_cast<uint32_t>(sizes[i]));
  return taken;
}

std::vector<Device *> devicesOf(cl_platform_id platform) {
  cl_device_id ids[16];
  cl_uint count = 0;
  if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, ids, &count) != CL_SUCCESS)
    return {};
  std::vector<Device *> found;
  for (cl_uint i = 0; i < std::min(count, 16u); ++i) {
    Device device{platform, ids[i], "", {}};
    const bool hasSpirv = device.text(CL_DEVICE_IL_VERSION).find("SPIR-V") != std::string::npos;
    if (!hasSpirv || device.text(CL_DEVICE_EXTENSIONS).find("cl_intel_unified_shared_memory") == std::string::npos)
      continue;
    device.name = device.text(CL_DEVICE_NAME) + " (Level Zero over OpenCL)";
    device.subGroupSizes = subGroupSizesOf(device);
    if (loadExtensions(platform))
      found.push_back(new Device(std::move(device)));
  }
  return found;
}

std::vector<Device *> findDevices() {
  if (!loadCore(settings().library))
    return {};
  cl_platform_id platforms[16];
  cl_uint count = 0;
  cl.clGetPlatformIDs(16, platforms, &count);
  for (cl_uint i = 0; i < std::min(count, 16u); ++i)
    if (std::vector<Device *> found = devicesOf(platforms[i]); !found.empty())
      return found;
  say("no OpenCL device with SPIR-V and unified shared memory in %s", settings().library);
  return {};
}

} // namespace

OpenCl cl;
std::atomic<int64_t> Counted::live{0};

Settings::Settings()
    : library(setting("ZE_OPENCL_LIBRARY", "libOpenCL.so.1")),
      subGroupSizes("," + std::string(setting("ZE_OPENCL_SUB_GROUP_SIZES", "8,16,32")) + ","), isTracing(isOn("ZE_OPENCL_TRACE")),
      isGuarding(isOn("ZE_OPENCL_GUARD")), isReversing(isOn("ZE_OPENCL_REVERSE")),
      maxGroupSize(static_cast<uint32_t>(std::atoi(setting("ZE_OPENCL_MAX_GROUP_SIZE", "1024")))),
      maxLocalMemory(static_cast<uint32_t>(std::atoi(setting("ZE_OPENCL_MAX_LOCAL_MEMORY", "65536")))) {}

// Neither is ever destroyed: threads of queues that the application forgot may outlive main().
const Settings &settings() {
  static const Settings *read = new Settings;
  return *read;
}
const std::vector<Device *> &devices() {
  static const auto *found = new std::vector<Device *>(findDevices());
  return *found;
}

void say(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "ze-over-opencl: %s\n", text);
}

std::string Device::text(cl_device_info what) const {
  size_t size = 0;
  if (cl.clGetDeviceInfo(id, what, 0, nullptr, &size) != CL_SUCCESS || !size)
    return "";
  std::string value(size, 0);
  cl.clGetDeviceInfo(id, what, size, value.data(), nullptr);
  return value.c_str();
}

uint64_t Device::time() const {
  cl_ulong device = 0, host = 0;
  cl.clGetDeviceAndHostTimer(id, &device, &host);
  return device;
}

ze_result_t translate(cl_int error) {
  switch (error) {
  case CL_SUCCESS:
    return ZE_RESULT_SUCCESS;
  case CL_OUT_OF_HOST_MEMORY:
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  case CL_MEM_OBJECT_ALLOCATION_FAILURE:
  case CL_OUT_OF_RESOURCES:
    return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  case CL_INVALID_BUFFER_SIZE:
    return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  case CL_INVALID_ARG_INDEX:
    return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
  case CL_INVALID_ARG_SIZE:
    return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
  case CL_INVALID_WORK_GROUP_SIZE:
  case CL_INVALID_WORK_ITEM_SIZE:
    return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  case CL_INVALID_KERNEL_NAME:
    return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
  case CL_BUILD_PROGRAM_FAILURE:
    return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
  default:
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
}

} // namespace zocl
