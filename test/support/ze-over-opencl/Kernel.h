//===- Kernel.h - Modules and kernels --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_ZE_OVER_OPENCL_KERNEL_H
#define QUERN_TEST_ZE_OVER_OPENCL_KERNEL_H

#include "Driver.h"
#include "Spirv.h"

#include <array>
#include <memory>
#include <mutex>

namespace zocl {

struct Module : Counted {
  Context *context = nullptr;
  Device *device = nullptr;
  cl_program program = nullptr;
  std::vector<uint32_t> spirv;
  std::vector<KernelInfo> kernels;
  ~Module() {
    if (program)
      cl.clReleaseProgram(program);
  }
};

/// Lives on while commands use it.
struct KernelObject {
  explicit KernelObject(cl_kernel id) : id(id) {}
  ~KernelObject() { cl.clReleaseKernel(id); }
  const cl_kernel id;
  std::mutex mutex; ///< arguments are set and launched under it
};

struct Value {
  bool isSet = false;
  size_t size = 0;
  std::string bytes;
  const void *pointer() const {
    const void *value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
};

struct Kernel : Counted {
  KernelInfo info;
  std::shared_ptr<KernelObject> object;
  std::vector<Value> values; ///< of the arguments
  std::array<size_t, 3> group = {1, 1, 1};
  cl_ulong staticLocal = 0; ///< bytes of work-group memory in the module
};

} // namespace zocl

#endif // QUERN_TEST_ZE_OVER_OPENCL_KERNEL_H
