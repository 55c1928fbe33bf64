//===- Modules.h - Modules and kernels -------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_ZE_OVER_OPENCL_MODULES_H
#define QUERN_TEST_ZE_OVER_OPENCL_MODULES_H

#include "Driver.h"

#include <array>
#include <memory>
#include <mutex>

namespace zocl {

/// What SPIR-V says of a kernel. OpenCL tells the kinds of arguments only with a build option, and never their sizes.
struct KernelInfo {
  struct Argument {
    bool isPointer = false;
    size_t size = 0;
  };
  std::string name;
  std::vector<Argument> arguments;
  std::array<size_t, 3> groupSize = {0, 0, 0}; ///< required ones, or 0
  uint32_t subGroupSize = 0;
};

/// Appends the kernels of a module; what is wrong with it, or "". Intel's CPU runtime ends the process on a module that is cut short, which
/// is refused here.
std::string readKernels(const std::vector<uint32_t> &words, std::vector<KernelInfo> &kernels);

struct Module : Counted {
  Device *device = nullptr;
  cl_program program = nullptr;
  std::vector<uint32_t> spirv;
  std::vector<KernelInfo> kernels;
  ~Module() {
    if (program)
      cl.clReleaseProgram(program);
  }
};

/// OpenCL's kernel, which lives on while commands use it.
struct KernelObject {
  explicit KernelObject(cl_kernel id) : id(id) {}
  ~KernelObject() { cl.clReleaseKernel(id); }
  const cl_kernel id;
  std::mutex mutex; ///< arguments are set and launched under it
};

struct Kernel : Counted {
  KernelInfo info;
  std::shared_ptr<KernelObject> object;
  std::vector<std::string> values; ///< of the arguments; empty: not set
  std::array<size_t, 3> group = {1, 1, 1};
  cl_ulong localBytes = 0; ///< of work-group memory
};

/// The value of an argument that is a pointer.
inline const void *pointerIn(const std::string &value) {
  const void *pointer = nullptr;
  std::memcpy(&pointer, value.data(), sizeof pointer);
  return pointer;
}

} // namespace zocl

#endif // QUERN_TEST_ZE_OVER_OPENCL_MODULES_H
