//===- OpenClContestant.cpp - Plain kernels on an OpenCL runtime ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a user who knows OpenCL would write, compiled and run by the runtime that the tests of Level Zero run on, too.
//
//===----------------------------------------------------------------------===//
#define CL_TARGET_OPENCL_VERSION 300
#include "Contestant.h"

#include "OpenClSource.h"

#include <CL/cl.h>
#include <dlfcn.h>

namespace quern::bench {

namespace {

class OpenCl : public Contestant {
public:
  explicit OpenCl(const std::string &path) : library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library)
      throw std::runtime_error(std::string("cannot open OpenCL: ") + dlerror());
    cl_platform_id platform = nullptr;
    check(name<decltype(clGetPlatformIDs)>("clGetPlatformIDs")(1, &platform, nullptr), "clGetPlatformIDs");
    check(name<decltype(clGetDeviceIDs)>("clGetDeviceIDs")(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    cl_int status = 0;
    context = name<decltype(clCreateContext)>("clCreateContext")(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    queue = name<decltype(clCreateCommandQueueWithProperties)>("clCreateCommandQueueWithProperties")(context, device, nullptr, &status);
    check(status, "clCreateCommandQueueWithProperties");
    enqueue = name<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel");
    finish = name<decltype(clFinish)>("clFinish");
  }

  std::string prepare(const Problem &problem) override {
    OpenClSource source = openClSourceFor(problem);
    release();
    build(source.text);
    items = source.items;
    group = source.group;
    cl_uint next = 0;
    for (const ArgumentInfo &argument : problem.verified.arguments) {
      buffers.push_back(makeBuffer(argument.desc.bytes()));
      fillArgument(buffers.back().get(), argument);
      cl_int status = 0;
      memories.push_back(name<decltype(clCreateBuffer)>("clCreateBuffer")(
          context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, static_cast<size_t>(argument.desc.bytes()), buffers.back().get(), &status));
      check(status, "clCreateBuffer");
      check(name<decltype(clSetKernelArg)>("clSetKernelArg")(kernel, next++, sizeof(cl_mem), &memories.back()), "clSetKernelArg");
    }
    run(1);
    return source.group ? "OpenCL C, a row to a group" : "OpenCL C";
  }

  void run(int64_t calls) override {
    for (int64_t call = 0; call < calls; ++call) // a call ends before the next one begins, as a library's does
      check(enqueue(queue, kernel, 1, nullptr, &items, group ? &group : nullptr, 0, nullptr, nullptr), "clEnqueueNDRangeKernel"),
          check(finish(queue), "clFinish");
  }

private:
  template <typename F> F *name(const char *symbol) {
    auto *found = reinterpret_cast<F *>(dlsym(library, symbol));
    if (!found)
      throw std::runtime_error(std::string("OpenCL has no ") + symbol);
    return found;
  }

  static void check(cl_int status, const char *call) {
    if (status != CL_SUCCESS)
      throw std::runtime_error(std::string(call) + " gave " + std::to_string(status));
  }

  void build(const std::string &text) {
    const char *source = text.c_str();
    cl_int status = 0;
    cl_program program = name<decltype(clCreateProgramWithSource)>("clCreateProgramWithSource")(context, 1, &source, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    status = name<decltype(clBuildProgram)>("clBuildProgram")(program, 1, &device, "-cl-std=CL3.0", nullptr, nullptr);
    if (status != CL_SUCCESS) {
      char log[512] = {};
      name<decltype(clGetProgramBuildInfo)>("clGetProgramBuildInfo")(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, nullptr);
      std::string line = log;
      throw std::runtime_error("clBuildProgram: " + line.substr(0, line.find('\n')));
    }
    kernel = name<decltype(clCreateKernel)>("clCreateKernel")(program, "k", &status);
    check(status, "clCreateKernel");
    name<decltype(clReleaseProgram)>("clReleaseProgram")(program);
  }

  void release() {
    for (cl_mem memory : memories)
      name<decltype(clReleaseMemObject)>("clReleaseMemObject")(memory);
    memories.clear();
    buffers.clear();
    if (kernel)
      name<decltype(clReleaseKernel)>("clReleaseKernel")(std::exchange(kernel, nullptr));
  }

  void *library; ///< stays open: its threads outlive this
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  decltype(clEnqueueNDRangeKernel) *enqueue = nullptr;
  decltype(clFinish) *finish = nullptr;
  size_t items = 1, group = 0;
  std::vector<Buffer> buffers;
  std::vector<cl_mem> memories;
};

} // namespace

std::unique_ptr<Contestant> createOpenCl(const std::string &libraryPath) { return std::make_unique<OpenCl>(libraryPath); }

} // namespace quern::bench
