//===- Driver.h - OpenCL, opened at run time, and its devices --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A Level Zero driver for tests, which runs SPIR-V on any OpenCL runtime with SPIR-V and unified shared memory; see README.md beside this
// file. Here is what all of its parts know: settings, the functions of OpenCL, devices, handles, and the tables that the loader gets.
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
#include <cstring>
#include <string>
#include <vector>

namespace zocl {

/// What the environment says, read once.
struct Settings {
  Settings();
  const char *library;
  std::string subGroupSizes; ///< between commas, with one at either end
  bool isTracing, isGuarding, isReversing, hasF64;
  uint32_t maxGroupSize, maxLocalMemory;
};
const Settings &settings();

/// One line on stderr, as of printf().
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

#define ZOCL_CORE_FUNCTIONS(X)                                                                                                             \
  X(clGetPlatformIDs)                                                                                                                      \
  X(clGetDeviceIDs)                                                                                                                        \
  X(clGetDeviceInfo) X(clGetDeviceAndHostTimer) X(clCreateContext) X(clReleaseContext) X(clCreateCommandQueueWithProperties)               \
      X(clReleaseCommandQueue) X(clFinish) X(clCreateProgramWithIL) X(clBuildProgram) X(clGetProgramBuildInfo) X(clReleaseProgram)         \
          X(clCreateKernel) X(clReleaseKernel) X(clSetKernelArg) X(clGetKernelWorkGroupInfo) X(clEnqueueNDRangeKernel) X(clWaitForEvents)  \
              X(clGetEventProfilingInfo) X(clReleaseEvent) X(clGetExtensionFunctionAddressForPlatform)
#define ZOCL_EXTENSION_FUNCTIONS(X)                                                                                                        \
  X(clHostMemAllocINTEL)                                                                                                                   \
  X(clDeviceMemAllocINTEL) X(clSharedMemAllocINTEL) X(clMemFreeINTEL) X(clSetKernelArgMemPointerINTEL) X(clEnqueueMemcpyINTEL)

struct OpenCl {
#define ZOCL_DECLARE(name) decltype(&::name) name = nullptr;
  ZOCL_CORE_FUNCTIONS(ZOCL_DECLARE) ZOCL_EXTENSION_FUNCTIONS(ZOCL_DECLARE)
#undef ZOCL_DECLARE
};
extern OpenCl cl;

struct Device {
  cl_device_id id;
  std::string name;
  std::vector<uint32_t> subGroupSizes; ///< that the application may see

  template <typename T> T info(cl_device_info what) const {
    T value = T();
    return cl.clGetDeviceInfo(id, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T();
  }
  std::string text(cl_device_info what) const;
  /// Nanoseconds of the clock that the profiling information has.
  uint64_t time() const;
};

/// The devices of the first platform that fits; none if there is no such OpenCL.
const std::vector<Device *> &devices();

ze_result_t translate(cl_int error);

/// A base of everything that the application creates and must destroy.
struct Counted {
  Counted() { ++live; }
  Counted(const Counted &) { ++live; }
  Counted &operator=(const Counted &) = default;
  ~Counted() { --live; }
  static std::atomic<int64_t> live;
};

struct Context : Counted {
  cl_context id = nullptr;
};

/// Whether a pointer leads into an allocation.
bool isAllocated(const void *pointer);

/// While one exists device memory can be touched. With ZE_OPENCL_GUARD each thread of a queue makes one for the commands it runs.
struct DeviceAccess {
  DeviceAccess();
  ~DeviceAccess();
};

/// The object behind a handle, which is its address.
template <typename Object, typename Handle> Object *as(Handle handle) { return reinterpret_cast<Object *>(handle); }
template <typename Object, typename Handle> ze_result_t give(Object *object, Handle *handle) {
  *handle = reinterpret_cast<Handle>(object);
  return ZE_RESULT_SUCCESS;
}
template <typename Object, typename Handle> ze_result_t destroy(Handle handle) {
  delete as<Object>(handle);
  return ZE_RESULT_SUCCESS;
}

// Each fills in the functions that the driver has; the rest says UNSUPPORTED_FEATURE.
void fill(ze_global_dditable_t &table);
void fill(ze_driver_dditable_t &table);
void fill(ze_device_dditable_t &table);
void fill(ze_context_dditable_t &table);
void fill(ze_mem_dditable_t &table);
void fill(ze_module_dditable_t &table);
void fill(ze_module_build_log_dditable_t &table);
void fill(ze_kernel_dditable_t &table);
void fill(ze_command_queue_dditable_t &table);
void fill(ze_command_list_dditable_t &table);
void fill(ze_event_pool_dditable_t &table);
void fill(ze_event_dditable_t &table);

/// What a test has asked this call to give instead of doing its work; see zeOverOpenClFail() in Tables.cpp.
ze_result_t plannedFailure();

template <auto Function> struct MayFail;
template <typename... Arguments, ze_result_t (*Function)(Arguments...)> struct MayFail<Function> {
  static ze_result_t call(Arguments... arguments) {
    const ze_result_t planned = plannedFailure();
    return planned ? planned : Function(arguments...);
  }
};
/// The function, but for the call that is to fail. What gives something back never fails.
template <auto Function> constexpr auto *mayFail = &MayFail<Function>::call;

} // namespace zocl

#endif // QUERN_TEST_ZE_OVER_OPENCL_DRIVER_H
