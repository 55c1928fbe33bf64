//===- Driver.cpp - OpenCL, opened at run time, and its devices ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace zocl {
namespace {

const char *setting(const char *name, const char *fallback) {
  const char *value = std::getenv(name);
  return value && *value ? value : fallback;
}
bool isOn(const char *name, const char *fallback = "0") { return *setting(name, fallback) == '1'; }
uint32_t numberOf(const char *name, const char *fallback) { return static_cast<uint32_t>(std::atoi(setting(name, fallback))); }

bool loadCore(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    say("%s", dlerror());
    return false;
  }
#define ZOCL_LOAD(name)                                                                                                                    \
  if (!(cl.name = reinterpret_cast<decltype(cl.name)>(dlsym(library, #name))))                                                             \
    return false;
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
  constexpr cl_device_info subGroupSizes = 0x4108; // CL_DEVICE_SUB_GROUP_SIZES_INTEL
  size_t sizes[16], bytes = 0;
  std::vector<uint32_t> taken;
  if (cl.clGetDeviceInfo(device.id, subGroupSizes, sizeof sizes, sizes, &bytes) == CL_SUCCESS)
    for (size_t i = 0; i < bytes / sizeof *sizes; ++i)
      if (settings().subGroupSizes.find("," + std::to_string(sizes[i]) + ",") != std::string::npos)
        taken.push_back(static_cast<uint32_t>(sizes[i]));
  return taken;
}

std::vector<Device *> devicesOf(cl_platform_id platform) {
  std::vector<Device *> found;
  cl_device_id ids[16];
  cl_uint count = 0;
  if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, ids, &count) != CL_SUCCESS || !loadExtensions(platform))
    return found;
  for (cl_uint i = 0; i < count && i < 16; ++i) {
    Device device{ids[i], "", {}};
    if (device.text(CL_DEVICE_IL_VERSION).find("SPIR-V") == std::string::npos)
      continue;
    device.name = device.text(CL_DEVICE_NAME) + " (Level Zero over OpenCL)";
    device.subGroupSizes = subGroupSizesOf(device);
    found.push_back(new Device(device));
  }
  return found;
}

std::vector<Device *> findDevices() {
  if (!loadCore(settings().library))
    return {};
  cl_platform_id platforms[16];
  cl_uint count = 0;
  cl.clGetPlatformIDs(16, platforms, &count);
  for (cl_uint i = 0; i < count && i < 16; ++i)
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
      isGuarding(isOn("ZE_OPENCL_GUARD")), isReversing(isOn("ZE_OPENCL_REVERSE")), hasF64(isOn("ZE_OPENCL_F64", "1")),
      maxGroupSize(numberOf("ZE_OPENCL_MAX_GROUP_SIZE", "1024")), maxLocalMemory(numberOf("ZE_OPENCL_MAX_LOCAL_MEMORY", "65536")) {}

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
  static constexpr struct {
    cl_int from;
    ze_result_t to;
  } known[] = {{CL_SUCCESS, ZE_RESULT_SUCCESS},
               {CL_OUT_OF_HOST_MEMORY, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY},
               {CL_MEM_OBJECT_ALLOCATION_FAILURE, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY},
               {CL_OUT_OF_RESOURCES, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY},
               {CL_INVALID_BUFFER_SIZE, ZE_RESULT_ERROR_UNSUPPORTED_SIZE},
               {CL_INVALID_WORK_GROUP_SIZE, ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION}};
  for (const auto &each : known)
    if (each.from == error)
      return each.to;
  return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

} // namespace zocl
