//===- Objects.h - Engine, stream and memory -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The objects of the C handles for engines, streams and memory. Engines are reference-counted, so these handles may be
// destroyed in any order.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_ENGINE_OBJECTS_H
#define QUERN_RUNTIME_ENGINE_OBJECTS_H

#include "Desc/Target.h"
#include "Desc/Tensor/SparseTensor.h"
#include "Engine/Overlap.h"

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

/// A device and the target that its code is compiled for. Immutable.
class Engine {
public:
  explicit Engine(EngineKind kind) : kind(kind), target(Target::host()), targetText(target.text()) {}
  explicit Engine(std::shared_ptr<Device> device);
  const EngineKind kind;
  const Target target;
  const std::string targetText;
  const std::shared_ptr<Device> device; ///< null on the CPU
  /// Returns the name of the device.
  const char *name() const;

private:
  friend class EngineRef;
  std::atomic<int> references{0};
};

/// A counted reference to an Engine, or null; the last reference deletes it. The engine's address is its C handle.
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

  /// Adds a reference, such as the one that a C handle holds.
  static void retain(Engine *engine) { engine->references.fetch_add(1, std::memory_order_relaxed); }
  static void release(Engine *engine) {
    if (engine->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete engine;
  }

private:
  Engine *engine;
};

/// A buffer in host memory that a device accesses through a copy.
struct HostBuffer {
  size_t position;        ///< index in Call::buffers
  int64_t first, bytes;   ///< bytes [first, bytes) are copied
  bool isRead, isWritten; ///< true if it is copied to the device before the kernels, or back after them
};

/// One execution. Pointers are needed only during the call, memory until the stream has been waited for. Without an
/// executable no kernel runs; if `host` is set, buffer 0 is copied to buffer 1.
struct Call {
  /// Kernel that is loaded for the stream's engine. Streams share its ownership for as long as they need it.
  const Executable *executable = nullptr;
  std::span<void *const> buffers;        ///< one for each argument
  std::span<const uint64_t> allocations; ///< allocation number of each buffer; 0 if the device did not allocate it
  /// True for each host scalar: 8 bytes of host memory, which must be copied to a device. Empty if there is none.
  std::span<const bool> isScalar;
  const int64_t *sizes = nullptr; ///< open sizes
  const int64_t *bufferBytes = nullptr;
  const int64_t *numbers = nullptr; ///< the program's numbers for these sizes, on the CPU; null: the execution computes
                                    ///< them
  void *scratchpad = nullptr;       ///< allocated by the caller; null: the stream's scratchpad is used
  uint64_t scratchpadAllocation = 0;
  int scratchpadThreads = 0;        ///< number of CPU threads that it is sized for
  const HostBuffer *host = nullptr; ///< null: the engine can access all buffers
};

/// Orders an execution relative to the caller's events. Each kind of device derives its own class, which is the only
/// one that its streams accept.
struct EventLinks {};

/// A queue of executions. Thread-safe.
class Stream {
public:
  Stream(Engine *engine, bool isProfiling) : engine(engine), isProfiling(isProfiling) {}
  /// Waits for all executions.
  virtual ~Stream() = default;
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  const EngineRef engine;
  const bool isProfiling;

  /// Starts an execution. `links` may be null, and always is on the CPU.
  virtual Result<void> execute(const Call &call, const EventLinks *links) = 0;
  /// Waits until all executions have finished.
  virtual Result<void> wait() = 0;
  /// Waits for all executions and returns the duration in ns of each one since resetProfile(). A device measures it
  /// with its own clock.
  virtual Result<std::vector<uint64_t>> profile() = 0;
  virtual Result<void> resetProfile() = 0;
};

/// A descriptor with its buffers (several for a sparse tensor), or a host scalar with its value, which has no engine.
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

  /// Returns true for buffer 0, and for the further buffers of a sparse tensor.
  bool hasBuffer(int index) const { return index >= 0 && index <= static_cast<int>(others.size()); }
  void *buffer(int index) const { return index == 0 ? data : others[static_cast<size_t>(index) - 1].data; }
  /// Uses a caller-owned buffer, or null. Fails with `invalid_arguments` if the engine cannot use it: a device needs
  /// memory that Level Zero allocated for it, and the CPU cannot use memory of a device.
  Result<void> setBuffer(int index, void *handle);
  /// Copies the value of a host scalar.
  void setScalar(const void *value) {
    std::memcpy(&scalar, value, static_cast<size_t>(bytes));
    data = &scalar;
  }
  /// Allocates a buffer aligned to 64 bytes, on a device in its memory. An empty tensor gets none.
  Result<void> allocate(int index);
  /// Returns a pointer through which the host may read and write a buffer until unmap(): the buffer itself, or a copy
  /// if only the device can access it.
  Result<void *> map(int index);
  /// Copies the mapped data back to the device if map() made a copy.
  Result<void> unmap(int index, const void *given);

  const EngineRef engine;
  const TensorDesc desc;
  const int64_t bytes;     ///< size of buffer 0
  const int64_t firstByte; ///< offset of the first element in buffer 0
  void *data = nullptr;    ///< buffer 0
  uint64_t allocation = 0; ///< on a device: number of the allocation of buffer 0; see PointedMemory

private:
  struct Buffer {
    void *data = nullptr, *owned = nullptr, *mapped = nullptr; ///< `mapped`: the host's copy
    bool isReachable = true;                                   ///< true if the host can access it
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

#endif // QUERN_RUNTIME_ENGINE_OBJECTS_H
