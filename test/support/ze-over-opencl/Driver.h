//===- Driver.h - Common declarations of the driver -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A Level Zero driver for tests, which runs SPIR-V on any OpenCL runtime with SPIR-V and unified shared memory; see
// README.md next to this file. Each source file adds its functions to the tables that the loader requests: Devices.cpp,
// Memory.cpp, Modules.cpp, Queues.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_ZE_OVER_OPENCL_DRIVER_H
#define QUERN_TEST_ZE_OVER_OPENCL_DRIVER_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <syncstream>
#include <vector>

namespace zocl {

/// Returns an environment variable, or `fallback` if it is unset or empty.
inline const char *setting(const char *name, const char *fallback) {
  const char *value = std::getenv(name);
  return value && *value ? value : fallback;
}
inline uint32_t number(const char *name, const char *fallback) {
  return static_cast<uint32_t>(std::atoi(setting(name, fallback)));
}

/// Settings from the environment, read when the driver is opened.
inline const struct Settings {
  const char *library = setting("ZE_OPENCL_LIBRARY", "libOpenCL.so.1");
  const std::string type = setting("ZE_OPENCL_TYPE", "");
  const char *subGroupSizes = setting("ZE_OPENCL_SUB_GROUP_SIZES", "8,16,32");
  uint32_t maxGroupSize = number("ZE_OPENCL_MAX_GROUP_SIZE", "1024");
  uint32_t maxLocalMemory = number("ZE_OPENCL_MAX_LOCAL_MEMORY", "65536");
  bool hasF64 = number("ZE_OPENCL_F64", "1");
  bool isReversing = number("ZE_OPENCL_REVERSE", "0");
  uint32_t guard = number("ZE_OPENCL_GUARD", "0");
  bool isTracing = number("ZE_OPENCL_TRACE", "0");
} settings;

/// Prints one line to stderr.
template <typename... Parts> void say(const Parts &...parts) {
  ((std::osyncstream(std::cerr) << "ze-over-opencl: ") << ... << parts) << '\n';
}

// clang-format off
#define ZOCL_CORE_FUNCTIONS(X)                                                                                         \
  X(clGetPlatformIDs) X(clGetExtensionFunctionAddressForPlatform) X(clGetDeviceIDs) X(clGetDeviceInfo)                 \
  X(clGetDeviceAndHostTimer) X(clCreateContext) X(clReleaseContext) X(clCreateCommandQueueWithProperties)              \
  X(clReleaseCommandQueue) X(clFinish) X(clCreateProgramWithIL) X(clBuildProgram) X(clGetProgramBuildInfo)             \
  X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel) X(clSetKernelArg) X(clGetKernelWorkGroupInfo)               \
  X(clEnqueueNDRangeKernel) X(clWaitForEvents) X(clGetEventProfilingInfo) X(clReleaseEvent)
#define ZOCL_EXTENSION_FUNCTIONS(X)                                                                                    \
  X(clHostMemAllocINTEL) X(clDeviceMemAllocINTEL) X(clSharedMemAllocINTEL) X(clMemFreeINTEL)                           \
  X(clSetKernelArgMemPointerINTEL) X(clEnqueueMemcpyINTEL)
// clang-format on

/// Functions of OpenCL, which is loaded at run time.
struct OpenCl {
#define ZOCL_DECLARE(name) decltype(&::name) name = nullptr;
  ZOCL_CORE_FUNCTIONS(ZOCL_DECLARE) ZOCL_EXTENSION_FUNCTIONS(ZOCL_DECLARE)
#undef ZOCL_DECLARE
};
extern OpenCl cl;

/// Returns the value of clGet…Info(of…), which has a fixed size; zero on failure.
template <typename Value, typename Function, typename... Of> Value query(Function function, Of... of) {
  Value value = Value();
  return function(of..., sizeof value, &value, nullptr) == CL_SUCCESS ? value : Value();
}
/// Returns the text of clGet…Info(of…); "" on failure.
template <typename Function, typename... Of> std::string queryText(Function function, Of... of) {
  size_t size = 0;
  if (function(of..., 0, nullptr, &size) != CL_SUCCESS)
    return "";
  std::string text(size, 0);
  function(of..., size, text.data(), nullptr);
  return text.c_str();
}

/// Returns a shared pointer that releases the object with its last owner, or null.
template <typename Object> std::shared_ptr<Object> own(Object *object, cl_int (*release)(Object *)) {
  return object ? std::shared_ptr<Object>(object, release) : nullptr;
}

ze_result_t translate(cl_int error);

struct Device {
  cl_device_id id;
  std::string name;
  std::vector<uint32_t> subGroupSizes; ///< sizes that the application sees
  template <typename Value> Value info(cl_device_info what) const { return query<Value>(cl.clGetDeviceInfo, id, what); }
};
/// Returns the devices of the first suitable platform; empty if there is none.
const std::vector<Device *> &devices();

/// Base of all objects that the application creates and must destroy.
struct Counted {
  Counted() { ++live; }
  Counted(const Counted &) { ++live; }
  Counted &operator=(const Counted &) = default;
  ~Counted() { --live; }
  static std::atomic<int64_t> live;
};
struct Context : Counted {
  std::shared_ptr<_cl_context> id;
};

/// Returns the object of a handle, which is its address.
template <typename Object, typename Handle> Object *as(Handle handle) { return reinterpret_cast<Object *>(handle); }
template <typename Object, typename Handle> ze_result_t give(Object *object, Handle *handle) {
  *handle = reinterpret_cast<Handle>(object);
  return ZE_RESULT_SUCCESS;
}
template <typename Object, typename Handle> ze_result_t destroy(Handle handle) {
  delete as<Object>(handle);
  return ZE_RESULT_SUCCESS;
}

/// Returns the unique number of the allocation that contains the address; 0: none.
uint64_t allocationAt(const void *pointer);
/// Makes device memory accessible during its lifetime. With ZE_OPENCL_GUARD, a queue creates one while it runs
/// commands.
struct DeviceAccess {
  DeviceAccess();
  ~DeviceAccess();
};

/// Enqueues a command in OpenCL; the event is created if the pointer is not null.
using Enqueue = std::function<ze_result_t(cl_command_queue, cl_event *)>;
/// Creates a launch with the current arguments of the kernel, or fails. A launch without groups stays empty.
ze_result_t makeLaunch(ze_kernel_handle_t handle, const ze_group_count_t &groups, Enqueue &enqueue);

/// Waits until no queue has work left.
void waitForAllQueues();

void addDevices(ze_dditable_t &tables);
void addMemory(ze_dditable_t &tables);
void addModules(ze_dditable_t &tables);
void addQueues(ze_dditable_t &tables);

/// Returns the failure that a test has planned for this call; see zeOverOpenClFail() in Tables.cpp.
ze_result_t plannedFailure();

/// Calls the function unless the call is to fail. Functions that destroy or free something never fail.
template <auto Function, typename... Arguments> ze_result_t mayFail(Arguments... arguments) {
  const ze_result_t planned = plannedFailure();
  return planned ? planned : Function(arguments...);
}

} // namespace zocl

#endif // QUERN_TEST_ZE_OVER_OPENCL_DRIVER_H
