//===- Modules.cpp - Modules and kernels -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Modules.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace zocl {
namespace {

struct BuildLog : Counted {
  std::string text;
};

/// What a native binary of this driver begins with: the SPIR-V follows.
constexpr std::string_view nativeMagic = "zeocl-1\n";

/// What is wrong, or "".
std::string takeCode(Module &module, const ze_module_desc_t &desc) {
  std::string_view code(reinterpret_cast<const char *>(desc.pInputModule), desc.inputSize);
  if (desc.format == ZE_MODULE_FORMAT_NATIVE) {
    if (!code.starts_with(nativeMagic))
      return "not a native binary of this driver\n";
    code.remove_prefix(nativeMagic.size());
  }
  if (code.size() % 4)
    return "the size of the SPIR-V module is not a multiple of four\n";
  module.spirv.resize(code.size() / 4);
  std::memcpy(module.spirv.data(), code.data(), code.size());
  if (std::string wrong = readKernels(module.spirv, module.kernels); !wrong.empty())
    return wrong;
  const std::vector<uint32_t> &sizes = module.device->subGroupSizes;
  for (const KernelInfo &kernel : module.kernels)
    if (kernel.subGroupSize && std::find(sizes.begin(), sizes.end(), kernel.subGroupSize) == sizes.end())
      return "kernel " + kernel.name + ": sub-group size " + std::to_string(kernel.subGroupSize) + " is not supported\n";
  return "";
}

/// What is wrong, or "". A log of warnings goes to `log`. Without optimisation Intel's CPU runtime forms no sub-groups, and it refuses
/// options that it does not know: it gets none.
std::string build(Module &module, const Context &context, std::string &log) {
  cl_int error = CL_SUCCESS;
  module.program = cl.clCreateProgramWithIL(context.id, module.spirv.data(), module.spirv.size() * 4, &error);
  if (!error)
    error = cl.clBuildProgram(module.program, 1, &module.device->id, "", nullptr, nullptr);
  if (module.program) {
    size_t length = 0;
    cl.clGetProgramBuildInfo(module.program, module.device->id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &length);
    std::string text(length, 0);
    cl.clGetProgramBuildInfo(module.program, module.device->id, CL_PROGRAM_BUILD_LOG, length, text.data(), nullptr);
    log += text.c_str();
  }
  return error ? "OpenCL error " + std::to_string(error) + "\n" : "";
}

ze_result_t createModule(ze_context_handle_t context, ze_device_handle_t device, const ze_module_desc_t *desc, ze_module_handle_t *out,
                         ze_module_build_log_handle_t *log) {
  if (desc->format != ZE_MODULE_FORMAT_NATIVE && desc->format != ZE_MODULE_FORMAT_IL_SPIRV)
    return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
  auto module = std::make_unique<Module>();
  module->device = as<Device>(device);
  std::string text, wrong = takeCode(*module, *desc);
  if (wrong.empty())
    wrong = build(*module, *as<Context>(context), text);
  if (log) {
    auto *made = new BuildLog;
    made->text = text + wrong;
    give(made, log);
  }
  if (wrong.empty())
    return give(module.release(), out);
  if (settings().isTracing)
    say("a module does not build: %s%s", text.c_str(), wrong.c_str());
  return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

ze_result_t getNativeBinary(ze_module_handle_t handle, size_t *size, uint8_t *out) {
  const std::vector<uint32_t> &spirv = as<Module>(handle)->spirv;
  *size = nativeMagic.size() + spirv.size() * 4;
  if (out) {
    std::memcpy(out, nativeMagic.data(), nativeMagic.size());
    std::memcpy(out + nativeMagic.size(), spirv.data(), spirv.size() * 4);
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t getLog(ze_module_build_log_handle_t handle, size_t *size, char *out) {
  const std::string &text = as<BuildLog>(handle)->text;
  if (out && *size)
    std::snprintf(out, *size, "%s", text.c_str());
  *size = text.size() + 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t createKernel(ze_module_handle_t handle, const ze_kernel_desc_t *desc, ze_kernel_handle_t *out) {
  const Module &module = *as<Module>(handle);
  const auto info = std::find_if(module.kernels.begin(), module.kernels.end(),
                                 [&](const KernelInfo &kernel) { return kernel.name == desc->pKernelName; });
  if (info == module.kernels.end())
    return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
  cl_int error = CL_SUCCESS;
  cl_kernel id = cl.clCreateKernel(module.program, desc->pKernelName, &error);
  if (error)
    return translate(error);
  auto *kernel = new Kernel;
  kernel->info = *info;
  kernel->object = std::make_shared<KernelObject>(id);
  kernel->values.resize(info->arguments.size());
  cl.clGetKernelWorkGroupInfo(id, module.device->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof kernel->localBytes, &kernel->localBytes, nullptr);
  return give(kernel, out);
}

ze_result_t setGroupSize(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z) {
  Kernel &kernel = *as<Kernel>(handle);
  const std::array<size_t, 3> size = {x, y, z}, &required = kernel.info.groupSize;
  if (!x || !y || !z || uint64_t(x) * y * z > settings().maxGroupSize || (required[0] && required != size))
    return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  kernel.group = size;
  return ZE_RESULT_SUCCESS;
}

ze_result_t setArgument(ze_kernel_handle_t handle, uint32_t index, size_t size, const void *value) {
  Kernel &kernel = *as<Kernel>(handle);
  if (index >= kernel.values.size())
    return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
  const KernelInfo::Argument &argument = kernel.info.arguments[index];
  if (size != argument.size)
    return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
  const std::string bytes(static_cast<const char *>(value), size);
  if (argument.isPointer && pointerIn(bytes) && !isAllocated(pointerIn(bytes)))
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  kernel.values[index] = bytes;
  return ZE_RESULT_SUCCESS;
}

} // namespace

void fill(ze_module_dditable_t &table) {
  table.pfnCreate = mayFail<createModule>;
  table.pfnDestroy = destroy<Module>;
  table.pfnGetNativeBinary = mayFail<getNativeBinary>;
}
void fill(ze_module_build_log_dditable_t &table) {
  table.pfnGetString = mayFail<getLog>;
  table.pfnDestroy = destroy<BuildLog>;
}
void fill(ze_kernel_dditable_t &table) {
  table.pfnCreate = mayFail<createKernel>;
  table.pfnDestroy = destroy<Kernel>;
  table.pfnSetGroupSize = mayFail<setGroupSize>;
  table.pfnSetArgumentValue = mayFail<setArgument>;
}

} // namespace zocl
