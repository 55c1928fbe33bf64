//===- Device.h - The interface of a device -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The interface of devices other than the CPU. runtime/LevelZero implements it and defines the functions declared
// below; only the public functions for that kind of device include its headers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_ENGINE_DEVICE_H
#define QUERN_RUNTIME_ENGINE_DEVICE_H

#include "Engine/Executable.h"

namespace quern {

class Engine;
class Stream;

/// The kind of memory that a pointer refers to.
enum class MemoryKind {
  Unknown, ///< not allocated by the device's driver: from malloc(), of another context, or null
  Host,
  Device,
  Shared,
};

/// The memory that a pointer refers to.
struct PointedMemory {
  MemoryKind kind = MemoryKind::Unknown;
  uint64_t allocation = 0; ///< unique number, never reused for later memory at the same address; 0 if Unknown
};
/// Returns the number of a new allocation by this library. These are larger than the numbers that drivers assign.
uint64_t newAllocation();

/// A device with its memory. Thread-safe.
class Device {
public:
  virtual ~Device() = default;

  virtual const std::string &name() const = 0;
  virtual const Target &target() const = 0;
  /// Returns the properties that native code depends on: the device and its driver.
  virtual std::string identity() const = 0;
  /// Returns true if the program provided the context. No cache keeps objects of such a context after the engine is
  /// destroyed.
  virtual bool isLent() const = 0;

  /// Allocates memory of the device, aligned to 64 bytes and uninitialized. `bytes` is positive.
  virtual Result<void *> allocate(int64_t bytes) const = 0;
  /// Frees memory once no stream of this device has pending work. Null does nothing.
  virtual void free(void *memory) const = 0;
  virtual Result<PointedMemory> find(const void *pointer) const = 0;
  /// Copies between device and host memory and waits for the copy. Does not wait for the work of streams.
  virtual Result<void> copy(void *to, const void *from, size_t bytes) = 0;

  /// Loads an artifact. Fails if it is not for this device or problem, and with `runtime_error` and the driver's log if
  /// it does not build. `native` is an earlier result of Executable::nativeCode() for this artifact, so that the driver
  /// need not compile; it is ignored if the driver rejects it.
  virtual Result<std::shared_ptr<const Executable>> load(Artifact artifact, std::string bytes,
                                                         const VerifiedProblem &problem, std::string_view native) = 0;
  /// Creates a stream of an engine on this device.
  virtual Result<std::unique_ptr<Stream>> makeStream(Engine *engine, bool isInOrder, bool isProfiling) = 0;
};

/// Returns the devices of all drivers. The first successful call determines them; a failed one is retried by the next
/// call. Empty without a driver, and in a child of fork() whose parent has devices. Thread-safe.
Result<std::span<const std::shared_ptr<Device>>> allDevices();

/// Finds the memory of a pointer on any device that this process uses. If it uses none, returns Unknown without calling
/// a driver.
Result<PointedMemory> findAnywhere(const void *pointer);

} // namespace quern

#endif // QUERN_RUNTIME_ENGINE_DEVICE_H
