//===- Device.h - What the runtime asks of a device -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The interface to whatever is not the CPU. A folder beside this one implements it, and only the public functions of
// that kind of device include its headers: it is runtime/LevelZero, which also defines the functions here.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_DEVICE_H
#define QUERN_RUNTIME_CORE_DEVICE_H

#include "Core/Executable.h"

namespace quern {

class Engine;
class Stream;

/// What a pointer leads to.
enum class MemoryKind {
  Unknown, ///< none that a device's driver gave: of malloc(), of another context, or null
  Host,
  Device,
  Shared,
};

/// Memory that a pointer leads into.
struct PointedMemory {
  MemoryKind kind = MemoryKind::Unknown;
  uint64_t allocation = 0; ///< its number, which memory that gets its address later does not have; 0 of what is Unknown
};
/// The number of new memory of this library's. Drivers number what programs allocate; these are greater.
uint64_t newAllocation();

/// A device with its memory. Thread-safe.
class Device {
public:
  virtual ~Device() = default;

  virtual const std::string &name() const = 0;
  virtual const Target &target() const = 0;
  /// What native code for this device and driver depends on.
  virtual std::string identity() const = 0;
  /// Whether it is in a context of the program's, of which nothing is kept once the engine is destroyed.
  virtual bool isLent() const = 0;

  /// Memory of the device, aligned to 64 bytes and uninitialised; `bytes` > 0.
  virtual Result<void *> allocate(int64_t bytes) const = 0;
  /// Once no stream of this device has anything left to do. Null does nothing.
  virtual void free(void *memory) const = 0;
  virtual Result<PointedMemory> find(const void *pointer) const = 0;
  /// Between memory of the device and of the host, and waits. What streams have to do is not waited for.
  virtual Result<void> copy(void *to, const void *from, size_t bytes) = 0;

  /// Fails if the artifact is none for this device or not of this problem; `runtime_error` with the driver's log if it
  /// does not build. With `native`, what Executable::nativeCode() gave for this artifact, the driver has less to do; it
  /// is left aside if the driver refuses it.
  virtual Result<std::shared_ptr<const Executable>> load(Artifact artifact, std::string bytes,
                                                         const VerifiedProblem &problem, std::string_view native) = 0;
  /// For an engine on this device.
  virtual Result<std::unique_ptr<Stream>> makeStream(Engine *engine, bool isInOrder, bool isProfiling) = 0;
};

/// Those of all drivers, found at the first question and the same from then on; none without a driver, or in a
/// child of fork() whose parent has some. If finding them fails the error is given, and the next question
/// tries again. Thread-safe.
Result<std::span<const std::shared_ptr<Device>>> allDevices();

/// What a pointer leads to on any device that is in use in this process: Unknown, without a call of a
/// driver, if there is none.
Result<PointedMemory> findAnywhere(const void *pointer);

} // namespace quern

#endif // QUERN_RUNTIME_CORE_DEVICE_H
