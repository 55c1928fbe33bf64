//===- DeviceExecutable.h - A kernel loaded for a device ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LEVELZERO_DEVICEEXECUTABLE_H
#define QUERN_RUNTIME_LEVELZERO_DEVICEEXECUTABLE_H

#include "Engine/Executable.h"
#include "LevelZero/Device.h"

#include <mutex>

namespace quern::ze {

/// An artifact whose SPIR-V the device's driver has built, with a kernel for each entry.
// NOLINTNEXTLINE(misc-multiple-inheritance): the second is the standard library's way to be shared
class DeviceExecutable final : public Executable, public std::enable_shared_from_this<DeviceExecutable> {
public:
  /// See Device::load().
  static Result<std::shared_ptr<const Executable>> load(Artifact artifact, std::string bytes,
                                                        const VerifiedProblem &problem, std::shared_ptr<Device> device,
                                                        std::string_view native);

  const char *linkerName() const override { return "driver"; }
  size_t codeBytes() const override { return moduleBytes; }
  const Device *device() const override { return owner.get(); }
  Result<std::string> nativeCode() const override;
  bool isFromNative() const override { return fromNative; }

  /// Arguments of a launch: buffers in the order of the step, and arguments that all kernels of an execution share.
  struct Arguments {
    void *const *buffers;
    size_t bufferCount;
    void *shared;         ///< null if the kernels share no scratch
    const int64_t *sizes; ///< the open sizes, then the derived ones
  };
  /// Appends a launch of `groups` > 0 work-groups; the arguments are copied. Fails with `unimplemented` if the
  /// device does not support this many. Thread-safe.
  Result<void> appendLaunch(ze_command_list_handle_t list, const KernelStep &step, const Arguments &arguments,
                            int64_t groups, ze_event_handle_t signal) const;

private:
  DeviceExecutable() = default;
  Result<void> build(const Artifact &artifact, std::string_view native);

  std::shared_ptr<Device> owner;
  OwnedModule module;
  std::vector<OwnedKernel> kernels; ///< one for each entry; destroyed before the module
  size_t moduleBytes = 0;
  bool fromNative = false;
  mutable std::mutex mutex; ///< guards the arguments that are set in kernels
};

} // namespace quern::ze

#endif // QUERN_RUNTIME_LEVELZERO_DEVICEEXECUTABLE_H
