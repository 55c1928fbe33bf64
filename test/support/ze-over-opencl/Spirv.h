//===- Spirv.h - The kernels of a SPIR-V module ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_ZE_OVER_OPENCL_SPIRV_H
#define QUERN_TEST_ZE_OVER_OPENCL_SPIRV_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zocl {

struct KernelArgument {
  enum { Value, Pointer, Local } kind;
  size_t size;
};
struct KernelInfo {
  std::string name;
  std::vector<KernelArgument> arguments;
  uint32_t groupSize[3] = {0, 0, 0}, subGroupSize = 0; ///< required ones, or 0
};

/// Appends the kernels of a module; what is wrong with it, or "". OpenCL tells the kinds of arguments only with a build option and never
/// their sizes, and Intel's CPU runtime ends the process on a module that is cut short, which is refused here.
std::string readKernels(const std::vector<uint32_t> &words, std::vector<KernelInfo> &kernels);

} // namespace zocl

#endif // QUERN_TEST_ZE_OVER_OPENCL_SPIRV_H
