//===- OpenCl.cpp - An OpenCL with the kernels of the tests ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements the part of OpenCL that ze-over-opencl calls. It does not read SPIR-V: it has the kernels of
// test/unit/LevelZero/kernels.ll in C++ and runs them on the thread that enqueues them. ThreadSanitizer therefore sees
// every access of a kernel and all synchronization, unlike in a real runtime.
//
//===----------------------------------------------------------------------===//
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Launch {
  const std::vector<std::string> &arguments;
  size_t items;

  template <typename Value> Value value(size_t position) const {
    Value value;
    std::memcpy(&value, arguments[position].data(), sizeof value);
    return value;
  }
  float *buffer(size_t position) const { return value<float *>(position); }
};

void addOne(const Launch &launch) {
  for (size_t i = 0; i < launch.items; ++i)
    launch.buffer(1)[i] = launch.buffer(0)[i] + 1;
}
void sumRows(const Launch &launch) {
  constexpr size_t length = 64;
  for (size_t row = 0; row < launch.items / length; ++row) {
    float sum = 0;
    for (size_t i = 0; i < length; ++i)
      sum += launch.buffer(0)[row * length + i];
    launch.buffer(1)[row] = sum;
  }
}
void addSize(const Launch &launch) {
  for (size_t i = 0; i < launch.items; ++i)
    launch.buffer(2)[i] = launch.buffer(0)[i] + static_cast<float>(launch.value<int64_t>(3));
  for (size_t i = 0; i < launch.items; ++i)
    launch.buffer(1)[i] = launch.buffer(2)[i];
}
void scale(const Launch &launch) {
  for (size_t i = 0; i < launch.items; ++i)
    launch.buffer(2)[i] = launch.buffer(0)[i] * *launch.buffer(1);
}
void nothing(const Launch &) {}

struct BuiltIn {
  size_t arguments;
  void (*run)(const Launch &);
  cl_ulong groupMemory = 0;
};
const std::map<std::string_view, BuiltIn> builtIn = {{"add_one", {2, addOne}},      {"sum_rows", {2, sumRows, 256}},
                                                     {"add_size", {5, addSize}},    {"scale", {3, scale}},
                                                     {"add_one_open", {4, addOne}}, {"nothing", {2, nothing}}};

template <typename Object> cl_int release(Object *object) {
  delete object;
  return CL_SUCCESS;
}
template <typename Object> Object *give(Object *object, cl_int *error) {
  if (error)
    *error = object ? CL_SUCCESS : CL_INVALID_VALUE;
  return object;
}
/// Answers a query; fails if `room` is too small for the value.
cl_int answer(const void *value, size_t bytes, size_t room, void *out, size_t *size) {
  if (size)
    *size = bytes;
  if (out && room < bytes)
    return CL_INVALID_VALUE;
  if (out)
    std::memcpy(out, value, bytes);
  return CL_SUCCESS;
}

cl_ulong now() { return static_cast<cl_ulong>(std::chrono::steady_clock::now().time_since_epoch().count()); }
void *allocate(size_t bytes, cl_int *error) {
  constexpr size_t alignment = 64;
  return give(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment), error);
}

} // namespace

static struct _cl_platform_id {
} platform;
static struct _cl_device_id {
} device;
struct _cl_context {};
struct _cl_command_queue {};
struct _cl_program {};
struct _cl_kernel {
  BuiltIn code;
  std::vector<std::string> arguments;
};
struct _cl_event {
  cl_ulong start, end;
};

extern "C" {

cl_int clGetPlatformIDs(cl_uint, cl_platform_id *out, cl_uint *count) {
  const cl_platform_id only = &platform;
  const cl_int found = answer(&only, sizeof only, sizeof only, out, nullptr);
  if (count)
    *count = 1;
  return found;
}
cl_int clGetDeviceIDs(cl_platform_id, cl_device_type, cl_uint, cl_device_id *out, cl_uint *count) {
  const cl_device_id only = &device;
  const cl_int found = answer(&only, sizeof only, sizeof only, out, nullptr);
  if (count)
    *count = 1;
  return found;
}
cl_int clGetDeviceInfo(cl_device_id, cl_device_info what, size_t room, void *out, size_t *size) {
  constexpr size_t subGroupSizes[] = {8, 16, 32}, groupSize = 1024;
  constexpr cl_ulong most = cl_ulong(1) << 32, groupMemory = 65536;
  constexpr cl_device_type type = CL_DEVICE_TYPE_CPU;
  constexpr cl_device_fp_config fp = CL_FP_FMA;
  constexpr cl_uint vendor = 0;
  // Answers with a string literal.
  const auto text = [&](std::string_view value) { return answer(value.data(), value.size() + 1, room, out, size); };
  switch (what) {
  case CL_DEVICE_NAME:
    return text("kernels of the tests");
  case CL_DEVICE_IL_VERSION:
    return text("SPIR-V_1.4");
  case CL_DEVICE_EXTENSIONS:
    return text("cl_khr_fp16");
  case CL_DEVICE_TYPE:
    return answer(&type, sizeof type, room, out, size);
  case CL_DEVICE_VENDOR_ID:
    return answer(&vendor, sizeof vendor, room, out, size);
  case CL_DEVICE_DOUBLE_FP_CONFIG:
    return answer(&fp, sizeof fp, room, out, size);
  case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
    return answer(&most, sizeof most, room, out, size);
  case CL_DEVICE_LOCAL_MEM_SIZE:
    return answer(&groupMemory, sizeof groupMemory, room, out, size);
  case CL_DEVICE_MAX_WORK_GROUP_SIZE:
    return answer(&groupSize, sizeof groupSize, room, out, size);
  case 0x4108: // CL_DEVICE_SUB_GROUP_SIZES_INTEL
    return answer(subGroupSizes, sizeof subGroupSizes, room, out, size);
  default:
    return CL_INVALID_VALUE;
  }
}
cl_int clGetDeviceAndHostTimer(cl_device_id, cl_ulong *ofDevice, cl_ulong *ofHost) {
  *ofDevice = *ofHost = now();
  return CL_SUCCESS;
}

cl_context clCreateContext(const cl_context_properties *, cl_uint, const cl_device_id *,
                           void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *error) {
  return give(new _cl_context, error);
}
cl_int clReleaseContext(cl_context context) { return release(context); }
cl_command_queue clCreateCommandQueueWithProperties(cl_context, cl_device_id, const cl_queue_properties *,
                                                    cl_int *error) {
  return give(new _cl_command_queue, error);
}
cl_int clReleaseCommandQueue(cl_command_queue queue) { return release(queue); }
cl_int clFinish(cl_command_queue) { return CL_SUCCESS; }

cl_program clCreateProgramWithIL(cl_context, const void *, size_t, cl_int *error) {
  return give(new _cl_program, error);
}
cl_int clBuildProgram(cl_program, cl_uint, const cl_device_id *, const char *, void(CL_CALLBACK *)(cl_program, void *),
                      void *) {
  return CL_SUCCESS;
}
cl_int clGetProgramBuildInfo(cl_program, cl_device_id, cl_program_build_info, size_t room, void *out, size_t *size) {
  return answer("", 1, room, out, size);
}
cl_int clReleaseProgram(cl_program program) { return release(program); }

cl_kernel clCreateKernel(cl_program, const char *name, cl_int *error) {
  const auto found = builtIn.find(name);
  return give(found == builtIn.end() ? nullptr
                                     : new _cl_kernel{found->second, std::vector<std::string>(found->second.arguments)},
              error);
}
cl_int clReleaseKernel(cl_kernel kernel) { return release(kernel); }
cl_int clSetKernelArg(cl_kernel kernel, cl_uint position, size_t bytes, const void *value) {
  if (position >= kernel->arguments.size())
    return CL_INVALID_ARG_INDEX;
  kernel->arguments[position].assign(static_cast<const char *>(value), bytes);
  return CL_SUCCESS;
}
cl_int clSetKernelArgMemPointerINTEL(cl_kernel kernel, cl_uint position, const void *value) {
  return clSetKernelArg(kernel, position, sizeof value, &value);
}
cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id, cl_kernel_work_group_info what, size_t room, void *out,
                                size_t *size) {
  return what == CL_KERNEL_LOCAL_MEM_SIZE
             ? answer(&kernel->code.groupMemory, sizeof kernel->code.groupMemory, room, out, size)
             : CL_INVALID_VALUE;
}
cl_int clEnqueueNDRangeKernel(cl_command_queue, cl_kernel kernel, cl_uint dims, const size_t *, const size_t *items,
                              const size_t *, cl_uint, const cl_event *, cl_event *event) {
  if (dims != 1)
    return CL_INVALID_WORK_DIMENSION;
  const cl_ulong start = now();
  kernel->code.run({kernel->arguments, items[0]});
  if (event)
    *event = new _cl_event{start, now()};
  return CL_SUCCESS;
}
cl_int clWaitForEvents(cl_uint, const cl_event *) { return CL_SUCCESS; }
cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *out, size_t *size) {
  const cl_ulong &time = what == CL_PROFILING_COMMAND_START ? event->start : event->end;
  return answer(&time, sizeof time, room, out, size);
}
cl_int clReleaseEvent(cl_event event) { return release(event); }

void *clHostMemAllocINTEL(cl_context, const cl_mem_properties_intel *, size_t bytes, cl_uint, cl_int *error) {
  return allocate(bytes, error);
}
void *clDeviceMemAllocINTEL(cl_context, cl_device_id, const cl_mem_properties_intel *, size_t bytes, cl_uint,
                            cl_int *error) {
  return allocate(bytes, error);
}
void *clSharedMemAllocINTEL(cl_context, cl_device_id, const cl_mem_properties_intel *, size_t bytes, cl_uint,
                            cl_int *error) {
  return allocate(bytes, error);
}
cl_int clMemFreeINTEL(cl_context, void *memory) {
  std::free(memory);
  return CL_SUCCESS;
}
cl_int clEnqueueMemcpyINTEL(cl_command_queue, cl_bool, void *to, const void *from, size_t bytes, cl_uint,
                            const cl_event *, cl_event *event) {
  const cl_ulong start = now();
  std::memcpy(to, from, bytes);
  if (event)
    *event = new _cl_event{start, now()};
  return CL_SUCCESS;
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id, const char *name) {
  static const std::map<std::string_view, void *> extensions = {
      {"clHostMemAllocINTEL", reinterpret_cast<void *>(clHostMemAllocINTEL)},
      {"clDeviceMemAllocINTEL", reinterpret_cast<void *>(clDeviceMemAllocINTEL)},
      {"clSharedMemAllocINTEL", reinterpret_cast<void *>(clSharedMemAllocINTEL)},
      {"clMemFreeINTEL", reinterpret_cast<void *>(clMemFreeINTEL)},
      {"clSetKernelArgMemPointerINTEL", reinterpret_cast<void *>(clSetKernelArgMemPointerINTEL)},
      {"clEnqueueMemcpyINTEL", reinterpret_cast<void *>(clEnqueueMemcpyINTEL)}};
  const auto found = extensions.find(name);
  return found == extensions.end() ? nullptr : found->second;
}

} // extern "C"
