//===- Objects.h - Engine, stream and memory -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The objects behind the C handles that are not primitives. An engine is counted, so that handles may
// be destroyed in any order.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_OBJECTS_H
#define QUERN_RUNTIME_CORE_OBJECTS_H

#include "Core/Overlap.h"
#include "Desc/Target.h"
#include "Desc/Tensor/SparseTensor.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace quern {

class Device;
class Executable;

/// A device and what its code is compiled for. Immutable.
class Engine {
public:
  explicit Engine(EngineKind kind) : kind(kind), target(Target::host()), targetText(target.text()) {}
  explicit Engine(std::shared_ptr<Device> device);
  const EngineKind kind;
  const Target target;
  const std::string targetText;
  const std::shared_ptr<Device> device; ///< null on the CPU
  /// Of the device.
  const char *name() const;

private:
  friend class EngineRef;
  std::atomic<int> references{0};
};

/// Shares an Engine, or none; the last reference deletes it. The address of the engine is its C handle.
class EngineRef {
public:
  explicit EngineRef(Engine *engine) : engine(engine) {
    if (engine)
      retain(engine);
  }
  EngineRef(const EngineRef &other) : EngineRef(other.engine) {}
  EngineRef &operator=(EngineRef other) {
    std::swap(engine, other.engine);
    return *this;
  }
  ~EngineRef() {
    if (engine)
      release(engine);
  }
  Engine *get() const { return engine; }
  Engine *operator->() const { return engine; }

  /// What a C handle does: one reference without an EngineRef.
  static void retain(Engine *engine) { engine->references.fetch_add(1, std::memory_order_relaxed); }
  static void release(Engine *engine) {
    if (engine->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete engine;
  }

private:
  Engine *engine;
};

/// A buffer of the host's, of which a device works on a copy of its own.
struct HostBuffer {
  size_t position;        ///< among the buffers
  int64_t first, bytes;   ///< [first, bytes) is copied
  bool isRead, isWritten; ///< copied before the kernels, and back after them
};

/// One execution. Pointers are needed during the call only, memory until the stream has been waited for. Without an
/// executable nothing runs, but for a copy of buffer 0 to buffer 1 if one is the host's.
struct Call {
  /// Loaded for the stream's engine, and shared by streams for as long as they need it.
  const Executable *executable = nullptr;
  std::span<void *const> buffers;        ///< of the arguments
  std::span<const uint64_t> allocations; ///< the numbers of their memory; 0 of what is not the device's
  /// Of a buffer: it is 8 bytes of the host's, to be copied for a device; empty: none is.
  std::span<const bool> isScalar;
  const int64_t *sizes = nullptr; ///< the given ones
  const int64_t *bufferBytes = nullptr;
  const int64_t *numbers = nullptr; ///< of the program for these sizes, on the CPU; null: not known
  void *scratchpad = nullptr;       ///< the caller's; null: the stream's
  uint64_t scratchpadAllocation = 0;
  int scratchpadThreads = 0;        ///< of the CPU that it provides for
  const HostBuffer *host = nullptr; ///< null: the engine reaches all buffers
};

/// What orders an execution among events of the caller's. Each kind of device derives its own, and
/// its streams take no other.
struct EventLinks {};

/// Where executions run. Thread-safe.
class Stream {
public:
  Stream(Engine *engine, bool isProfiling) : engine(engine), isProfiling(isProfiling) {}
  /// Waits.
  virtual ~Stream() = default;
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  const EngineRef engine;
  const bool isProfiling;

  /// Starts an execution. `links` may be null, and is on the CPU.
  virtual Result<void> execute(const Call &call, const EventLinks *links) = 0;
  /// Until all executions have finished.
  virtual Result<void> wait() = 0;
  /// Nanoseconds of each execution since resetProfile(), on a device by its clock; waits.
  virtual Result<std::vector<uint64_t>> profile() = 0;
  virtual Result<void> resetProfile() = 0;
};

/// A descriptor with a buffer, or several of a sparse tensor, or a host scalar with its value, which has no engine.
class Memory {
public:
  Memory(Engine *engine, const TensorDesc &desc)
      : engine(engine), desc(desc), bytes(desc.bytes()), firstByte(firstByteOf(desc)) {
    if (desc.isSparse())
      others.resize(static_cast<size_t>(bufferCount(desc)) - 1);
  }
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Buffers are 0, and more of a sparse tensor.
  bool hasBuffer(int index) const { return index >= 0 && index <= static_cast<int>(others.size()); }
  void *buffer(int index) const { return index == 0 ? data : others[static_cast<size_t>(index) - 1].data; }
  /// Takes a buffer of the caller's, or null. `invalid_arguments` if the engine cannot use it: on a device what is not
  /// Level Zero's memory there, on the CPU memory of a device.
  Result<void> setBuffer(int index, void *handle);
  /// Copies the value of a host scalar.
  void setScalar(const void *value) {
    std::memcpy(&scalar, value, static_cast<size_t>(bytes));
    data = &scalar;
  }
  /// A buffer of its own, aligned to 64 bytes, in the device's memory. An empty tensor gets none.
  Result<void> allocate(int index);
  /// Where the host may read and write a buffer until it is unmapped: the buffer itself, or a copy of what
  /// only the device can reach.
  Result<void *> map(int index);
  /// Brings a copy back to the device.
  Result<void> unmap(int index, const void *given);

  const EngineRef engine;
  const TensorDesc desc;
  const int64_t bytes;     ///< of buffer 0
  const int64_t firstByte; ///< of the first element
  void *data = nullptr;    ///< buffer 0
  uint64_t allocation = 0; ///< on a device the number of the memory that buffer 0 is in; see PointedMemory

private:
  struct Buffer {
    void *data = nullptr, *owned = nullptr, *mapped = nullptr; ///< `mapped`: the copy that the host has
    bool isReachable = true;                                   ///< by the host
  };
  int64_t bytesOf(int index) const { return index == 0 ? bytes : bytesOfBuffer(desc, index); }
  void *&owned(int index) { return index == 0 ? firstOwned : others[static_cast<size_t>(index) - 1].owned; }
  void *&mapped(int index) { return index == 0 ? firstMapped : others[static_cast<size_t>(index) - 1].mapped; }
  bool &reachable(int index) {
    return index == 0 ? isFirstReachable : others[static_cast<size_t>(index) - 1].isReachable;
  }
  void replace(int index, void *handle, bool isReachable);
  void release(int index);

  uint64_t scalar = 0;
  void *firstOwned = nullptr, *firstMapped = nullptr;
  bool isFirstReachable = true;
  std::vector<Buffer> others;
};

} // namespace quern

#endif // QUERN_RUNTIME_CORE_OBJECTS_H
