//===- DeviceExecutable.h - A kernel loaded for a device ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LEVELZERO_DEVICEEXECUTABLE_H
#define QUERN_RUNTIME_LEVELZERO_DEVICEEXECUTABLE_H

#include "Core/Executable.h"
#include "LevelZero/Device.h"

#include <mutex>

namespace quern::ze {

/// An artifact whose SPIR-V the device's driver has built, with a kernel for each entry.
class DeviceExecutable final : public Executable {
public:
  /// Fails if the artifact is none for a device or not of this problem. `runtime_error` with the driver's log if it does not build. With
  /// `native`, what nativeBinary() gave for this artifact, the driver has less to do; it is left aside if the driver refuses it.
  static Result<std::shared_ptr<const DeviceExecutable>> load(Artifact artifact, std::string bytes, const VerifiedProblem &problem,
                                                              std::shared_ptr<Device> device, std::string_view native = {});
  /// Whether `native` was taken.
  bool isFromNative() const { return fromNative; }
  /// The driver's own form of the module, for this device and driver alone.
  Result<std::string> nativeBinary() const;

  const char *linkerName() const override { return "driver"; }
  size_t codeBytes() const override { return moduleBytes; }
  const Device &device() const { return *owner; }

  /// What a launch passes: buffers in the order of the step, and what all kernels of an execution have in common.
  struct Arguments {
    void *const *buffers;
    size_t bufferCount;
    void *shared;         ///< null if the kernels share no scratch
    const int64_t *sizes; ///< the given and the derived ones
  };
  /// Appends a launch of `groups` > 0 groups; the arguments are copied. `unimplemented` if that is more than the device takes. Thread-safe.
  Result<void> appendLaunch(ze_command_list_handle_t list, const KernelStep &step, const Arguments &arguments, int64_t groups,
                            ze_event_handle_t signal) const;

private:
  DeviceExecutable() = default;
  Result<void> build(const Artifact &artifact, std::string_view native);

  std::shared_ptr<Device> owner;
  OwnedModule module;
  std::vector<OwnedKernel> kernels; ///< of the entries; destroyed before the module
  size_t moduleBytes = 0;
  bool fromNative = false;
  mutable std::mutex mutex; ///< guards the arguments that kernels have
};

} // namespace quern::ze

#endif // QUERN_RUNTIME_LEVELZERO_DEVICEEXECUTABLE_H
