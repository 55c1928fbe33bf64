//===- Device.h - A Level Zero device and its memory ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LEVELZERO_DEVICE_H
#define QUERN_RUNTIME_LEVELZERO_DEVICE_H

#include "Engine/Device.h"
#include "LevelZero/Handle.h"

#include <mutex>
#include <set>
#include <vector>

namespace quern::ze {

class Stream;

/// The properties of a device that Quern uses.
struct DeviceProperties {
  std::string name;
  /// Identify native binaries: the driver's version, and the device's vendor and device ids.
  std::string driverVersion, id;
  Target target;
  uint32_t queueGroup = 0; ///< the first one with compute support
  uint32_t maxGroupCount = 0;
  uint64_t maxAllocationBytes = 0;
  double nsPerTick = 1; ///< resolution of kernel timestamps
  uint64_t tickMask = ~uint64_t(0);
  std::string identity() const { return driverVersion + ' ' + id + ' ' + name; }
};

/// A device in a context. Thread-safe.
class Device final : public quern::Device, public std::enable_shared_from_this<Device> {
public:
  /// Creates a context. The handles belong to the loader and live as long as the process.
  static Result<std::shared_ptr<Device>> create(ze_driver_handle_t driver, ze_device_handle_t device);
  /// Returns a device in a caller-owned context, which the device does not destroy; the existing device if there is
  /// one. Fails with `runtime_error` if there is no loader, or in a child of fork() whose parent has devices.
  static Result<std::shared_ptr<Device>> lend(ze_driver_handle_t driver, ze_device_handle_t device,
                                              ze_context_handle_t context);
  /// Returns the identity() of a device that is not in use.
  static Result<std::string> identityOf(ze_driver_handle_t driver, ze_device_handle_t device);
  ~Device() override;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  ze_driver_handle_t driverHandle() const { return driver; }
  ze_device_handle_t handle() const { return device; }
  ze_context_handle_t context() const { return contextHandle; }
  const DeviceProperties &properties() const { return traits; }

  const std::string &name() const override { return traits.name; }
  const Target &target() const override { return traits.target; }
  std::string identity() const override { return traits.identity(); }
  bool isLent() const override { return !ownedContext; }

  Result<void *> allocate(int64_t bytes) const override;
  Result<void *> allocateOnHost(int64_t bytes) const;
  void free(void *memory) const override;
  /// Frees memory at once. No stream may use it.
  void freeUnused(void *memory) const;
  Result<PointedMemory> find(const void *pointer) const override;
  Result<void> copy(void *to, const void *from, size_t bytes) override;

  Result<std::shared_ptr<const Executable>> load(Artifact artifact, std::string bytes, const VerifiedProblem &problem,
                                                 std::string_view native) override;
  Result<std::unique_ptr<quern::Stream>> makeStream(Engine *engine, bool isInOrder, bool isProfiling) override;

  /// Creates a command list whose commands run immediately, asynchronously or not.
  Result<OwnedList> makeImmediateList(ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) const;
  Result<OwnedList> makeList() const;
  Result<OwnedQueue> makeQueue() const;

  // Called by the constructors and destructors of streams.
  void add(Stream *stream);
  void remove(Stream *stream);
  /// Waits for every stream. Ignores errors, which the next wait for the stream reports.
  void waitForStreams() const;

private:
  Device(ze_driver_handle_t driver, ze_device_handle_t device, ze_context_handle_t context, OwnedContext owned,
         DeviceProperties traits);
  static Result<std::shared_ptr<Device>> make(ze_driver_handle_t driver, ze_device_handle_t device,
                                              ze_context_handle_t context, OwnedContext owned);

  const ze_driver_handle_t driver;
  const ze_device_handle_t device;
  const ze_context_handle_t contextHandle;
  const OwnedContext ownedContext;
  const DeviceProperties traits;
  std::mutex copyMutex;           ///< guards the member below
  OwnedList copyList;             ///< synchronous; created by the first copy
  mutable std::mutex streamMutex; ///< guards the member below
  std::set<Stream *> streams;
};

} // namespace quern::ze

#endif // QUERN_RUNTIME_LEVELZERO_DEVICE_H
