//===- Objects.h - Engine, stream and memory ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The objects behind the C handles that are not primitives. An engine is counted, so that handles may be destroyed in any order.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_OBJECTS_H
#define QUERN_RUNTIME_OBJECTS_H

#include "quern/quern_threadpool_iface.hpp"

#include "Desc/SparseTensor.h"
#include "Desc/Target.h"
#include "Overlap.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

namespace quern {

/// A device and what its code is compiled for. Immutable.
class Engine {
public:
  explicit Engine(EngineKind kind) : kind(kind), target(Target::host()) {}
  const EngineKind kind;
  const Target target;

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
  EngineRef &operator=(const EngineRef &) = delete;
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

/// Which threads executions run on. They are synchronous, so there is nothing to wait for.
class Stream {
public:
  Stream(Engine *engine, bool profiling) : engine(engine), profiling(profiling) {}
  Stream(Engine *engine, threadpool_interop::threadpool_iface *pool) : engine(engine), profiling(false), ownThreads(true), pool(pool) {}

  const EngineRef engine;
  const bool profiling;
  const bool ownThreads = false; ///< made for the embedder's threads: `pool`, or the calling thread alone
  threadpool_interop::threadpool_iface *const pool = nullptr;

  void record(uint64_t ns) {
    std::lock_guard lock(mutex);
    durations.push_back(ns);
  }
  void resetProfile() {
    std::lock_guard lock(mutex);
    durations.clear();
  }
  std::vector<uint64_t> profile() const {
    std::lock_guard lock(mutex);
    return durations;
  }

private:
  mutable std::mutex mutex;
  std::vector<uint64_t> durations;
};

/// A descriptor with a buffer, or several of a sparse tensor, or a host scalar with its value, which has no engine.
class Memory {
public:
  Memory(Engine *engine, const TensorDesc &desc) : engine(engine), desc(desc), bytes(desc.bytes()), firstByte(firstByteOf(desc)) {
    if (desc.isSparse())
      others.resize(static_cast<size_t>(bufferCount(desc)) - 1);
  }
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Buffers are 0, and more of a sparse tensor.
  bool hasBuffer(int index) const { return index >= 0 && index <= static_cast<int>(others.size()); }
  void *buffer(int index) const { return index == 0 ? data : others[static_cast<size_t>(index) - 1].data; }
  /// Takes a buffer of the caller's, or null.
  void setBuffer(int index, void *handle);
  /// Copies the value of a host scalar.
  void setScalar(const void *value) {
    std::memcpy(&scalar, value, static_cast<size_t>(bytes));
    data = &scalar;
  }
  /// A buffer of its own, aligned to 64 bytes. An empty tensor gets none.
  Result<void> allocate(int index);

  const EngineRef engine;
  const TensorDesc desc;
  const int64_t bytes;     ///< of buffer 0
  const int64_t firstByte; ///< of the first element
  void *data = nullptr;    ///< buffer 0

private:
  struct Buffer {
    void *data = nullptr, *owned = nullptr;
  };
  uint64_t scalar = 0;
  void *owned = nullptr;
  std::vector<Buffer> others;
};

} // namespace quern

#endif // QUERN_RUNTIME_OBJECTS_H
