//===- Modules.cpp - Modules, kernels and launches -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string_view>

namespace zocl {
namespace {

using GroupSize = std::array<size_t, 3>;

/// A kernel as described by SPIR-V. OpenCL reports the kinds of arguments only with a build option, and never their
/// sizes.
struct KernelInfo {
  struct Argument {
    bool isPointer = false;
    size_t size = 0;
  };
  std::string name;
  std::vector<Argument> arguments;
  GroupSize groupSize = {0, 0, 0}; ///< required sizes, or 0
  uint32_t subGroupSize = 0;
};

/// Reads the instructions of a module that describe its kernels.
class SpirvReader {
public:
  /// Returns the error, or "". Truncated modules are refused here, because Intel's CPU runtime aborts on them.
  std::string read(std::span<const uint32_t> words) {
    if (words.size() < 6 || words[0] != 0x07230203)
      return "not a SPIR-V module\n";
    for (size_t at = 5; at < words.size();) {
      const uint32_t count = words[at] >> 16;
      if (!count || at + count > words.size())
        return "the SPIR-V module ends within an instruction\n";
      if (!take(words[at] & 0xffff, words.subspan(at + 1, count - 1)))
        return "unsupported type of a kernel argument\n";
      at += count;
    }
    return openFunctions ? "a SPIR-V function does not end\n" : "";
  }

  std::vector<KernelInfo> kernels;

private:
  // Opcodes and enumerants of the SPIR-V specification.
  enum : uint32_t {
    EntryPoint = 15,
    ExecutionMode = 16,
    TypeInt = 21,
    TypeFloat = 22,
    TypePointer = 32,
    TypeFunction = 33
  };
  enum : uint32_t { Function = 54, FunctionEnd = 56, KernelModel = 6, LocalSizeMode = 17, SubgroupSizeMode = 35 };

  /// Returns false for a kernel with an argument that is neither a number nor a pointer.
  bool take(uint32_t op, std::span<const uint32_t> w) {
    if (op == FunctionEnd) {
      --openFunctions;
    } else if (op == EntryPoint && w.size() > 2 && w[0] == KernelModel) {
      const auto *name = reinterpret_cast<const char *>(&w[2]);
      entries[w[1]] = kernels.size();
      kernels.emplace_back().name.assign(name, strnlen(name, (w.size() - 2) * 4));
    } else if (op == ExecutionMode && w.size() > 2 && entries.contains(w[0])) {
      KernelInfo &kernel = kernels[entries[w[0]]];
      if (w[1] == LocalSizeMode && w.size() == 5)
        std::copy_n(&w[2], 3, kernel.groupSize.begin());
      if (w[1] == SubgroupSizeMode)
        kernel.subGroupSize = w[2];
    } else if ((op == TypeInt || op == TypeFloat) && w.size() > 1) {
      types[w[0]] = {false, w[1] / 8};
    } else if (op == TypePointer && w.size() > 2) {
      types[w[0]] = {true, sizeof(void *)};
    } else if (op == TypeFunction && w.size() > 1) {
      signatures[w[0]].assign(w.begin() + 2, w.end());
    } else if (op == Function && w.size() == 4) {
      ++openFunctions;
      return !entries.contains(w[1]) || takeArguments(kernels[entries[w[1]]], w[3]);
    }
    return true;
  }

  bool takeArguments(KernelInfo &kernel, uint32_t signature) {
    for (uint32_t type : signatures[signature])
      kernel.arguments.push_back(types[type]);
    return std::all_of(kernel.arguments.begin(), kernel.arguments.end(),
                       [](const auto &argument) { return argument.size > 0; });
  }

  std::map<uint32_t, KernelInfo::Argument> types; ///< size 0: not a type of arguments
  std::map<uint32_t, std::vector<uint32_t>> signatures;
  std::map<uint32_t, size_t> entries; ///< function id to kernel
  int openFunctions = 0;
};

struct Module : Counted {
  Device *device = nullptr;
  std::shared_ptr<_cl_program> program;
  std::vector<uint32_t> spirv;
  std::vector<KernelInfo> kernels;
};
struct BuildLog : Counted {
  std::string text;
};
struct Kernel : Counted {
  KernelInfo info;
  std::shared_ptr<_cl_kernel> id;  ///< stays alive while commands use it
  std::vector<std::string> values; ///< values of the arguments; empty: not set
  GroupSize group = {1, 1, 1};
  cl_ulong localBytes = 0;               ///< size of work-group memory in bytes
  std::map<uint32_t, uint64_t> memory{}; ///< allocations that arguments refer to
};

/// Start of a native binary of this driver; the SPIR-V follows.
constexpr std::string_view nativeMagic = "zeocl-1\n";

/// Returns the error, or "".
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
  SpirvReader reader;
  if (std::string wrong = reader.read(module.spirv); !wrong.empty())
    return wrong;
  module.kernels = std::move(reader.kernels);
  const std::vector<uint32_t> &sizes = module.device->subGroupSizes;
  for (const KernelInfo &kernel : module.kernels)
    if (kernel.subGroupSize && std::find(sizes.begin(), sizes.end(), kernel.subGroupSize) == sizes.end())
      return "kernel " + kernel.name + ": sub-group size " + std::to_string(kernel.subGroupSize) +
             " is not supported\n";
  return "";
}

/// Returns the error, or ""; `log` receives warnings. No options are passed: without optimization, Intel's CPU runtime
/// forms no sub-groups, and it refuses unknown options.
std::string build(Module &module, const Context &context, std::string &log) {
  cl_int error = CL_SUCCESS;
  const cl_program program =
      cl.clCreateProgramWithIL(context.id.get(), module.spirv.data(), module.spirv.size() * 4, &error);
  module.program = own(program, cl.clReleaseProgram);
  if (!error) {
    error = cl.clBuildProgram(program, 1, &module.device->id, "", nullptr, nullptr);
    log = queryText(cl.clGetProgramBuildInfo, program, module.device->id, CL_PROGRAM_BUILD_LOG);
  }
  return error ? "OpenCL error " + std::to_string(error) + "\n" : "";
}

ze_result_t createModule(ze_context_handle_t context, ze_device_handle_t device, const ze_module_desc_t *desc,
                         ze_module_handle_t *out, ze_module_build_log_handle_t *log) {
  if (desc->format != ZE_MODULE_FORMAT_NATIVE && desc->format != ZE_MODULE_FORMAT_IL_SPIRV)
    return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
  auto module = std::make_unique<Module>();
  module->device = as<Device>(device);
  std::string text, wrong = takeCode(*module, *desc);
  if (wrong.empty())
    wrong = build(*module, *as<Context>(context), text);
  text += wrong;
  if (log)
    give(new BuildLog{{}, text}, log);
  if (wrong.empty())
    return give(module.release(), out);
  if (settings.isTracing)
    say("a module does not build: ", text);
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
  auto id = own(cl.clCreateKernel(module.program.get(), desc->pKernelName, &error), cl.clReleaseKernel);
  if (error)
    return translate(error);
  const auto localBytes =
      query<cl_ulong>(cl.clGetKernelWorkGroupInfo, id.get(), module.device->id, CL_KERNEL_LOCAL_MEM_SIZE);
  return give(new Kernel{{}, *info, id, std::vector<std::string>(info->arguments.size()), {1, 1, 1}, localBytes}, out);
}

ze_result_t setGroupSize(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z) {
  Kernel &kernel = *as<Kernel>(handle);
  const GroupSize size = {x, y, z}, &required = kernel.info.groupSize;
  if (!x || !y || !z || uint64_t(x) * y * z > settings.maxGroupSize || (required[0] && required != size))
    return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  kernel.group = size;
  return ZE_RESULT_SUCCESS;
}

/// Returns the value of a pointer argument.
const void *pointerIn(const std::string &value) {
  const void *pointer = nullptr;
  std::memcpy(&pointer, value.data(), sizeof pointer);
  return pointer;
}

ze_result_t setArgument(ze_kernel_handle_t handle, uint32_t index, size_t size, const void *value) {
  Kernel &kernel = *as<Kernel>(handle);
  if (index >= kernel.values.size())
    return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
  const KernelInfo::Argument &argument = kernel.info.arguments[index];
  if (size != argument.size)
    return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
  const std::string bytes(static_cast<const char *>(value), size);
  kernel.memory[index] = argument.isPointer ? allocationAt(pointerIn(bytes)) : 0;
  if (argument.isPointer && pointerIn(bytes) && !kernel.memory[index])
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  kernel.values[index] = bytes;
  return ZE_RESULT_SUCCESS;
}

/// Held while the arguments of an OpenCL kernel are set and it is launched. Never destroyed, because threads of queues
/// may outlive main().
std::mutex &launching = *new std::mutex;

ze_result_t launch(const Kernel &kernel, const GroupSize &global, cl_command_queue queue, cl_event *event) {
  if (settings.isTracing)
    say(kernel.info.name, " over ", global[0], "x", global[1], "x", global[2], " in groups of ", kernel.group[0]);
  std::lock_guard lock(launching);
  const cl_kernel id = kernel.id.get();
  for (cl_uint i = 0; i < kernel.values.size(); ++i) {
    const std::string &value = kernel.values[i];
    const bool isPointer = kernel.info.arguments[i].isPointer;
    const void *pointer = isPointer ? pointerIn(value) : nullptr;
    if (pointer && allocationAt(pointer) != kernel.memory.at(i)) { // another allocation may have the address
      say("argument ", i, " of ", kernel.info.name, " was freed before it ran");
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    const cl_int error = isPointer ? cl.clSetKernelArgMemPointerINTEL(id, i, pointer)
                                   : cl.clSetKernelArg(id, i, value.size(), value.data());
    if (error)
      return translate(error);
  }
  const cl_uint dims = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1; // more dims are slower in Intel's runtime
  return translate(
      cl.clEnqueueNDRangeKernel(queue, id, dims, nullptr, global.data(), kernel.group.data(), 0, nullptr, event));
}

} // namespace

ze_result_t makeLaunch(ze_kernel_handle_t handle, const ze_group_count_t &groups, Enqueue &enqueue) {
  const Kernel &kernel = *as<Kernel>(handle);
  if (std::any_of(kernel.values.begin(), kernel.values.end(), [](const std::string &value) { return value.empty(); }))
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (kernel.localBytes > settings.maxLocalMemory)
    return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  if (kernel.info.groupSize[0] && kernel.info.groupSize != kernel.group)
    return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  const auto &[x, y, z] = kernel.group;
  const GroupSize global = {groups.groupCountX * x, groups.groupCountY * y, groups.groupCountZ * z};
  if (global[0] && global[1] && global[2])
    enqueue = [kernel, global](cl_command_queue queue, cl_event *event) {
      return launch(kernel, global, queue, event);
    };
  return ZE_RESULT_SUCCESS;
}

void addModules(ze_dditable_t &tables) {
  tables.Module.pfnCreate = mayFail<createModule>;
  tables.Module.pfnDestroy = destroy<Module>;
  tables.Module.pfnGetNativeBinary = mayFail<getNativeBinary>;
  tables.ModuleBuildLog.pfnGetString = mayFail<getLog>;
  tables.ModuleBuildLog.pfnDestroy = destroy<BuildLog>;
  tables.Kernel.pfnCreate = mayFail<createKernel>;
  tables.Kernel.pfnDestroy = destroy<Kernel>;
  tables.Kernel.pfnSetGroupSize = mayFail<setGroupSize>;
  tables.Kernel.pfnSetArgumentValue = mayFail<setArgument>;
}

} // namespace zocl
