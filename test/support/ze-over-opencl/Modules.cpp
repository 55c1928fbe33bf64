//===- Modules.cpp - Modules and kernels -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Kernel.h"
#include "Tables.h"

#include <algorithm>

namespace zocl {
namespace {

struct BuildLog : Counted {
  std::string text;
};

/// In front of a native binary, which goes on with the SPIR-V, for what it tells of kernels, and OpenCL's binary.
struct NativeHeader {
  static constexpr uint64_t expected = 0x314c434f2d455a00;
  uint64_t magic = expected, spirvBytes = 0;
};

/// Level Zero's own options mean nothing to OpenCL, which refuses what it does not know. Without optimisation Intel's CPU runtime forms
/// no sub-groups.
std::string openClOptions(const char *flags) {
  std::string all = flags ? flags : "", kept;
  for (size_t at = 0, end; at < all.size(); at = end + 1) {
    end = std::min(all.find(' ', at), all.size());
    const std::string option = all.substr(at, end - at);
    if (option.starts_with("-cl-") && option != "-cl-opt-disable")
      kept += option + " ";
  }
  return kept;
}

std::string beyondLimits(const Module &module) {
  std::string text;
  const std::vector<uint32_t> &sizes = module.device->subGroupSizes;
  for (const KernelInfo &kernel : module.kernels) {
    if (kernel.subGroupSize && std::find(sizes.begin(), sizes.end(), kernel.subGroupSize) == sizes.end())
      text += "kernel " + kernel.name + ": sub-group size " + std::to_string(kernel.subGroupSize) + " is not supported\n";
    if (uint64_t(kernel.groupSize[0]) * kernel.groupSize[1] * kernel.groupSize[2] > settings().maxGroupSize)
      text += "kernel " + kernel.name + ": the required group size is too large\n";
  }
  return text;
}

/// What is wrong, or "".
std::string takeCode(Module &module, const ze_module_desc_t &desc, std::string_view &binary) {
  std::string_view code(reinterpret_cast<const char *>(desc.pInputModule), desc.inputSize);
  if (desc.format == ZE_MODULE_FORMAT_NATIVE) {
    NativeHeader header;
    if (code.size() < sizeof header)
      return "not a native binary of this driver\n";
    std::memcpy(&header, code.data(), sizeof header);
    if (header.magic != NativeHeader::expected || header.spirvBytes > code.size() - sizeof header)
      return "not a native binary of this driver\n";
    binary = code.substr(sizeof header + header.spirvBytes);
    code = code.substr(sizeof header, header.spirvBytes);
  }
  if (code.size() % 4)
    return "the size of the SPIR-V module is not a multiple of four\n";
  module.spirv.resize(code.size() / 4);
  std::memcpy(module.spirv.data(), code.data(), code.size());
  std::string wrong = readKernels(module.spirv, module.kernels);
  return wrong.empty() ? beyondLimits(module) : wrong;
}

/// What is wrong, or "". A log of warnings goes to `log`.
std::string build(Module &module, std::string_view binary, const char *flags, std::string &log) {
  cl_int error = CL_SUCCESS, status = CL_SUCCESS;
  const auto *bytes = reinterpret_cast<const unsigned char *>(binary.data());
  const size_t size = binary.size();
  cl_context context = module.context->id;
  module.program = size ? cl.clCreateProgramWithBinary(context, 1, &module.device->id, &size, &bytes, &status, &error)
                        : cl.clCreateProgramWithIL(context, module.spirv.data(), module.spirv.size() * 4, &error);
  if (!error)
    error = cl.clBuildProgram(module.program, 1, &module.device->id, openClOptions(flags).c_str(), nullptr, nullptr);
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
  module->context = as<Context>(context);
  module->device = as<Device>(device);
  std::string text;
  std::string_view binary;
  std::string wrong = takeCode(*module, *desc, binary);
  if (wrong.empty())
    wrong = build(*module, binary, desc->pBuildFlags, text);
  if (log) {
    auto *made = new BuildLog;
    made->text = text + wrong;
    give(made, log);
  }
  if (!wrong.empty()) {
    ZOCL_TRACE("a module does not build: %s%s", text.c_str(), wrong.c_str());
    return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
  }
  return give(module.release(), out);
}

ze_result_t getNativeBinary(ze_module_handle_t handle, size_t *size, uint8_t *out) {
  const Module &module = *as<Module>(handle);
  NativeHeader header;
  header.spirvBytes = module.spirv.size() * 4;
  size_t bytes = 0;
  if (cl_int error = cl.clGetProgramInfo(module.program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr))
    return translate(error);
  const size_t all = sizeof header + header.spirvBytes + bytes;
  if (out && *size < all)
    return ZE_RESULT_ERROR_INVALID_SIZE;
  *size = all;
  if (!out)
    return ZE_RESULT_SUCCESS;
  std::memcpy(out, &header, sizeof header);
  std::memcpy(out + sizeof header, module.spirv.data(), header.spirvBytes);
  unsigned char *binary = out + sizeof header + header.spirvBytes;
  return translate(cl.clGetProgramInfo(module.program, CL_PROGRAM_BINARIES, sizeof binary, &binary, nullptr));
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
  cl.clGetKernelWorkGroupInfo(id, module.device->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof kernel->staticLocal, &kernel->staticLocal, nullptr);
  return give(kernel, out);
}

ze_result_t setGroupSize(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z) {
  Kernel &kernel = *as<Kernel>(handle);
  const uint32_t size[3] = {x, y, z}, *required = kernel.info.groupSize;
  if (!x || !y || !z || uint64_t(x) * y * z > settings().maxGroupSize || (required[0] && !std::equal(size, size + 3, required)))
    return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  std::copy(size, size + 3, kernel.group.begin());
  return ZE_RESULT_SUCCESS;
}

ze_result_t setArgument(ze_kernel_handle_t handle, uint32_t index, size_t size, const void *value) {
  Kernel &kernel = *as<Kernel>(handle);
  if (index >= kernel.values.size())
    return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
  const KernelArgument &argument = kernel.info.arguments[index];
  if (argument.kind == KernelArgument::Local ? value || !size : size != argument.size)
    return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
  if (argument.kind == KernelArgument::Value && !value)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  Value set{true, size, std::string(value ? size : argument.kind == KernelArgument::Pointer ? sizeof(void *) : 0, 0)};
  if (value)
    std::memcpy(set.bytes.data(), value, size);
  if (argument.kind == KernelArgument::Pointer && set.pointer() && !isAllocated(set.pointer()))
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  kernel.values[index] = std::move(set);
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
