//===- OpenClContestant.cpp - Plain kernels on an OpenCL runtime ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Kernels that a programmer of OpenCL would write, compiled and run by the runtime on which the tests of Level Zero
// run.
//
//===----------------------------------------------------------------------===//
#define CL_TARGET_OPENCL_VERSION 300
#include "Contestant.h"

#include "OpenClSource.h"

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <dlfcn.h>

namespace quern::bench {

namespace {

class OpenCl : public Contestant {
public:
  OpenCl(const std::string &path, bool byDevice)
      : library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)), byDevice(byDevice) {
    if (!library)
      throw std::runtime_error(std::string("cannot open OpenCL: ") + dlerror());
    cl_platform_id platform = nullptr;
    check(name<decltype(clGetPlatformIDs)>("clGetPlatformIDs")(1, &platform, nullptr), "clGetPlatformIDs");
    check(name<decltype(clGetDeviceIDs)>("clGetDeviceIDs")(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr),
          "clGetDeviceIDs");
    cl_int status = 0;
    context = name<decltype(clCreateContext)>("clCreateContext")(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    const cl_queue_properties timed[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    queue = name<decltype(clCreateCommandQueueWithProperties)>("clCreateCommandQueueWithProperties")(
        context, device, byDevice ? timed : nullptr, &status);
    check(status, "clCreateCommandQueueWithProperties");
    enqueue = name<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel");
    finish = name<decltype(clFinish)>("clFinish");
    auto *find = name<decltype(clGetExtensionFunctionAddressForPlatform)>("clGetExtensionFunctionAddressForPlatform");
    allocate = reinterpret_cast<clDeviceMemAllocINTEL_fn>(find(platform, "clDeviceMemAllocINTEL"));
    free = reinterpret_cast<clMemBlockingFreeINTEL_fn>(find(platform, "clMemBlockingFreeINTEL"));
    copy = reinterpret_cast<clEnqueueMemcpyINTEL_fn>(find(platform, "clEnqueueMemcpyINTEL"));
    setPointer = reinterpret_cast<clSetKernelArgMemPointerINTEL_fn>(find(platform, "clSetKernelArgMemPointerINTEL"));
    if (!allocate || !free || !copy || !setPointer)
      throw std::runtime_error("OpenCL has no unified shared memory");
  }

  std::string prepare(const BenchProblem &problem) override {
    makeMemories(problem);
    std::vector<OpenClSource> sources = openClSourcesFor(problem);
    const OpenClSource *best = &sources.front();
    double shortest = 0;
    for (const OpenClSource &source : sources) {
      make(source);
      run(1);
      constexpr int64_t calls = 3;
      if (const double ns = Contestant::time(calls); &source == best || ns < shortest)
        best = &source, shortest = ns;
    }
    if (best != &sources.back())
      make(*best);
    return "OpenCL C, " + best->what;
  }

  void run(int64_t calls) override {
    for (int64_t call = 0; call < calls; ++call) // a call ends before the next one starts, like a library call
      check(enqueue(queue, kernel, 1, nullptr, &items, group ? &group : nullptr, 0, nullptr, nullptr),
            "clEnqueueNDRangeKernel"),
          check(finish(queue), "clFinish");
  }

  double time(int64_t calls) override {
    if (!byDevice)
      return Contestant::time(calls);
    // The queue runs them one after another without a wait in between, like Quern's stream.
    std::vector<cl_event> events(static_cast<size_t>(calls));
    for (cl_event &event : events)
      check(enqueue(queue, kernel, 1, nullptr, &items, group ? &group : nullptr, 0, nullptr, &event),
            "clEnqueueNDRangeKernel");
    check(finish(queue), "clFinish");
    auto *info = name<decltype(clGetEventProfilingInfo)>("clGetEventProfilingInfo");
    double sum = 0;
    for (cl_event event : events) {
      cl_ulong start = 0, end = 0;
      check(info(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr), "clGetEventProfilingInfo");
      check(info(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr), "clGetEventProfilingInfo");
      check(name<decltype(clReleaseEvent)>("clReleaseEvent")(event), "clReleaseEvent");
      sum += static_cast<double>(end - start);
    }
    return sum;
  }

  std::vector<std::pair<std::string, std::string>> results(const BenchProblem &problem) {
    std::vector<std::pair<std::string, std::string>> all;
    const auto &arguments = problem.verified.arguments;
    size_t output = 0;
    while (!arguments[output].isOutput)
      ++output;
    for (const OpenClSource &source : openClSourcesFor(problem)) {
      makeMemories(problem);
      make(source);
      run(1);
      std::string bytes(static_cast<size_t>(arguments[output].desc.bytes()), 0);
      check(copy(queue, CL_TRUE, bytes.data(), memories[output], bytes.size(), 0, nullptr, nullptr),
            "clEnqueueMemcpyINTEL");
      all.emplace_back(source.what, std::move(bytes));
    }
    release();
    return all;
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

  void makeMemories(const BenchProblem &problem) {
    release();
    for (const ArgumentInfo &argument : problem.verified.arguments)
      memories.push_back(makeMemory(argument));
  }

  void *makeMemory(const ArgumentInfo &argument) {
    const auto bytes = static_cast<size_t>(argument.desc.bytes());
    GuardedBuffer values = makeBuffer(argument.desc.bytes());
    fillArgument(values.data(), argument);
    cl_int status = 0;
    void *memory = allocate(context, device, nullptr, bytes, 64, &status);
    check(status, "clDeviceMemAllocINTEL");
    check(copy(queue, CL_TRUE, memory, values.data(), bytes, 0, nullptr, nullptr), "clEnqueueMemcpyINTEL");
    return memory;
  }

  void make(const OpenClSource &source) {
    dropKernel();
    build(source.text);
    items = source.items;
    group = source.group;
    cl_uint next = 0;
    for (void *memory : memories)
      check(setPointer(kernel, next++, memory), "clSetKernelArgMemPointerINTEL");
  }

  void build(const std::string &text) {
    const char *source = text.c_str();
    cl_int status = 0;
    cl_program program =
        name<decltype(clCreateProgramWithSource)>("clCreateProgramWithSource")(context, 1, &source, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    status = name<decltype(clBuildProgram)>("clBuildProgram")(program, 1, &device, "-cl-std=CL3.0", nullptr, nullptr);
    if (status != CL_SUCCESS) {
      char log[512] = {};
      name<decltype(clGetProgramBuildInfo)>("clGetProgramBuildInfo")(program, device, CL_PROGRAM_BUILD_LOG,
                                                                     sizeof log - 1, log, nullptr);
      std::string line = log;
      throw std::runtime_error("clBuildProgram: " + line.substr(0, line.find('\n')));
    }
    kernel = name<decltype(clCreateKernel)>("clCreateKernel")(program, "k", &status);
    check(status, "clCreateKernel");
    name<decltype(clReleaseProgram)>("clReleaseProgram")(program);
  }

  void release() {
    for (void *memory : memories)
      free(context, memory);
    memories.clear();
    dropKernel();
  }

  void dropKernel() {
    if (kernel)
      name<decltype(clReleaseKernel)>("clReleaseKernel")(std::exchange(kernel, nullptr));
  }

  void *library; ///< never closed, because its threads outlive this object
  bool byDevice;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  decltype(clEnqueueNDRangeKernel) *enqueue = nullptr;
  decltype(clFinish) *finish = nullptr;
  size_t items = 1, group = 0;
  clDeviceMemAllocINTEL_fn allocate = nullptr; ///< memory of the same kind as Level Zero's
  clMemBlockingFreeINTEL_fn free = nullptr;
  clEnqueueMemcpyINTEL_fn copy = nullptr;
  clSetKernelArgMemPointerINTEL_fn setPointer = nullptr;
  std::vector<void *> memories;
};

} // namespace

std::unique_ptr<Contestant> createOpenCl(const std::string &libraryPath, bool byDevice) {
  return std::make_unique<OpenCl>(libraryPath, byDevice);
}

std::vector<std::pair<std::string, std::string>> openClResults(const std::string &libraryPath,
                                                               const BenchProblem &problem) {
  return OpenCl(libraryPath, /*byDevice=*/false).results(problem);
}

} // namespace quern::bench
