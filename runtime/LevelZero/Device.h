//===- Device.h - A device of Level Zero with its memory ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LEVELZERO_DEVICE_H
#define QUERN_RUNTIME_LEVELZERO_DEVICE_H

#include "Core/Device.h"
#include "LevelZero/Handle.h"

#include <mutex>
#include <set>
#include <vector>

namespace quern::ze {

class Stream;

/// What a device says of itself, as far as somebody here asks.
struct DeviceProperties {
  std::string name;
  /// What a native binary depends on: the driver's number, and the device's vendor and number.
  std::string driverVersion, id;
  Target target;
  uint32_t queueGroup = 0; ///< the first that computes
  uint32_t maxGroupCount = 0;
  uint64_t maxAllocationBytes = 0;
  double nsPerTick = 1; ///< of kernel timestamps
  uint64_t tickMask = ~uint64_t(0);
  std::string identity() const { return driverVersion + ' ' + id + ' ' + name; }
};

/// A device in a context. Thread-safe.
class Device final : public quern::Device, public std::enable_shared_from_this<Device> {
public:
  /// Makes a context. The handles are the loader's, which live as long as the process.
  static Result<std::shared_ptr<Device>> create(ze_driver_handle_t driver, ze_device_handle_t device);
  /// In a context that is lent, and never destroyed here; the one that is known already if there is.
  /// `runtime_error` without a loader.
  static Result<std::shared_ptr<Device>> lend(ze_driver_handle_t driver, ze_device_handle_t device,
                                              ze_context_handle_t context);
  /// identity() of what is not in use.
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
  /// At once: no stream uses it.
  void freeUnused(void *memory) const;
  Result<PointedMemory> find(const void *pointer) const override;
  Result<void> copy(void *to, const void *from, size_t bytes) override;

  Result<std::shared_ptr<const Executable>> load(Artifact artifact, std::string bytes, const VerifiedProblem &problem,
                                                 std::string_view native) override;
  Result<std::unique_ptr<quern::Stream>> makeStream(Engine *engine, bool isInOrder, bool isProfiling) override;

  /// A command list whose commands run at once, asynchronously or not.
  Result<OwnedList> makeImmediateList(ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) const;
  Result<OwnedList> makeList() const;
  Result<OwnedQueue> makeQueue() const;

  // Of streams, from their constructors and destructors.
  void add(Stream *stream);
  void remove(Stream *stream);
  /// Waits for every stream; errors are left to who waits for the stream.
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
  std::mutex copyMutex;           ///< guards what follows
  OwnedList copyList;             ///< synchronous; made by the first copy
  mutable std::mutex streamMutex; ///< guards what follows
  std::set<Stream *> streams;
};

} // namespace quern::ze

#endif // QUERN_RUNTIME_LEVELZERO_DEVICE_H
