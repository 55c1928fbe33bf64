//===- DeviceExecutable.cpp - A kernel loaded for a device ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LevelZero/DeviceExecutable.h"

#include <algorithm>

namespace quern::ze {
namespace {

/// Returns the log as one line of limited length.
std::string readLog(ze_module_build_log_handle_t log) {
  constexpr size_t longest = 2000;
  size_t size = 0;
  if (!log || api().zeModuleBuildLogGetString(log, &size, nullptr) || size < 2)
    return "the driver returned no log";
  std::string text(size, 0);
  if (api().zeModuleBuildLogGetString(log, &size, text.data()))
    return "the driver returned no log";
  text.resize(std::min({text.size(), text.find('\0'), longest}));
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  for (char &c : text)
    c = c == '\n' ? ';' : static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return text;
}

Result<OwnedModule> buildModule(const Device &device, ze_module_format_t format, std::string_view code) {
  ze_module_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
  desc.format = format;
  desc.inputSize = code.size();
  desc.pInputModule = reinterpret_cast<const uint8_t *>(code.data());
  ze_module_handle_t module = nullptr;
  ze_module_build_log_handle_t log = nullptr;
  const ze_result_t result = api().zeModuleCreate(device.context(), device.handle(), &desc, &module, &log);
  const OwnedBuildLog owned(log);
  if (result == ZE_RESULT_SUCCESS)
    return OwnedModule(module);
  Error error = errorOf(result, "zeModuleCreate");
  if (result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE || result == ZE_RESULT_ERROR_MODULE_LINK_FAILURE)
    error.message += ": " + readLog(log);
  return error;
}

} // namespace

Result<void> DeviceExecutable::build(const Artifact &artifact, std::string_view native) {
  if (!native.empty())
    if (Result<OwnedModule> built = buildModule(*owner, ZE_MODULE_FORMAT_NATIVE, native)) {
      module = std::move(*built);
      fromNative = true;
    }
  if (!fromNative) {
    QUERN_ASSIGN_OR_RETURN(module, buildModule(*owner, ZE_MODULE_FORMAT_IL_SPIRV, artifact.code));
  }
  moduleBytes = artifact.code.size();
  for (size_t i = 0; i < artifact.entries.size(); ++i) {
    ze_kernel_desc_t desc{};
    desc.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
    desc.pKernelName = artifact.entries[i].c_str();
    ze_kernel_handle_t kernel = nullptr;
    QUERN_ZE_TRY(zeKernelCreate, module.get(), &desc, &kernel);
    kernels.emplace_back(kernel);
    QUERN_ZE_TRY(zeKernelSetGroupSize, kernel, static_cast<uint32_t>(artifact.groups[i].workItems), 1, 1);
  }
  return {};
}

Result<std::string> DeviceExecutable::nativeCode() const {
  size_t size = 0;
  QUERN_ZE_TRY(zeModuleGetNativeBinary, module.get(), &size, nullptr);
  std::string binary(size, 0);
  QUERN_ZE_TRY(zeModuleGetNativeBinary, module.get(), &size, reinterpret_cast<uint8_t *>(binary.data()));
  return binary;
}

Result<std::shared_ptr<const Executable>> DeviceExecutable::load(Artifact artifact, std::string bytes,
                                                                 const VerifiedProblem &problem,
                                                                 std::shared_ptr<Device> device,
                                                                 std::string_view native) {
  if (artifact.codeKind != CodeKind::SpirV)
    return runtimeError("the artifact holds code of kind ", static_cast<uint32_t>(artifact.codeKind), ", not SPIR-V");
  QUERN_RETURN_IF_ERROR(checkArguments(artifact, problem));
  if (artifact.groups.size() != artifact.entries.size())
    return runtimeError("the artifact has ", artifact.entries.size(), " entries and groups of ",
                        artifact.groups.size());
  if (artifact.scratchBytesPerThread != 0)
    return runtimeError("the artifact requires ", artifact.scratchBytesPerThread,
                        " bytes of scratch per thread; a device has none");
  std::shared_ptr<DeviceExecutable> executable(new DeviceExecutable());
  executable->owner = std::move(device);
  QUERN_RETURN_IF_ERROR(executable->build(artifact, native));
  const std::vector<void *> noFunctions(artifact.entries.size(), nullptr);
  QUERN_RETURN_IF_ERROR(executable->take(std::move(artifact), std::move(bytes), noFunctions));
  return std::shared_ptr<const Executable>(std::move(executable));
}

Result<void> DeviceExecutable::appendLaunch(ze_command_list_handle_t list, const KernelStep &step,
                                            const Arguments &arguments, int64_t groups,
                                            ze_event_handle_t signal) const {
  if (static_cast<uint64_t>(groups) > owner->properties().maxGroupCount)
    return unimplemented("a launch step has ", groups, " work-groups; ", owner->properties().name, " takes ",
                         owner->properties().maxGroupCount);
  ze_kernel_handle_t kernel = kernels[step.entry].get();
  const size_t sizeCount = program().sizeCount() + program().derivedSizeCount();
  uint32_t position = 0;
  std::lock_guard lock(mutex);
  for (size_t i = 0; i < arguments.bufferCount; ++i)
    QUERN_ZE_TRY(zeKernelSetArgumentValue, kernel, position++, sizeof(void *), &arguments.buffers[i]);
  if (kernelSharedBytes() > 0)
    QUERN_ZE_TRY(zeKernelSetArgumentValue, kernel, position++, sizeof(void *), &arguments.shared);
  for (size_t i = 0; i < sizeCount; ++i)
    QUERN_ZE_TRY(zeKernelSetArgumentValue, kernel, position++, sizeof(int64_t), &arguments.sizes[i]);
  const ze_group_count_t count{static_cast<uint32_t>(groups), 1, 1};
  QUERN_ZE_TRY(zeCommandListAppendLaunchKernel, list, kernel, &count, signal, 0, nullptr);
  return {};
}

} // namespace quern::ze
