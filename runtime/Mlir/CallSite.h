//===- CallSite.h - Call sites of functions in generated code -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The state that quern_mlir_call() keeps between calls: the kernel and memory objects. Usually only addresses change
// between calls, so memory objects are reused, and replaced only if a size, stride or offset has changed.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_MLIR_CALLSITE_H
#define QUERN_RUNTIME_MLIR_CALLSITE_H

#include "Core/Primitive.h"

#include "quern/quern_mlir_call.h"

#include <mutex>

namespace quern {

/// A site of quern_mlir_call(). Thread-safe.
class CallSite {
public:
  CallSite();
  ~CallSite();
  /// Executes the function on `memrefs`. The first call creates the kernel.
  Result<void> call(const quern_mlir_function_t &function, std::span<const quern_mlir_memref_t> memrefs);

private:
  /// Memory objects of the arguments. At most one call uses a frame at a time.
  struct Frame {
    std::vector<std::unique_ptr<Memory>> memories;
    std::vector<quern_exec_arg_t> arguments;
  };

  Result<const Primitive *> prepare(const quern_mlir_function_t &function);
  Result<std::unique_ptr<Primitive>> make(const quern_mlir_function_t &function) const;
  std::unique_ptr<Frame> takeFrame(size_t arguments);
  Result<void> fill(Frame &frame, std::span<const quern_mlir_memref_t> memrefs) const;

  EngineRef engine;
  std::unique_ptr<Stream> stream;
  std::atomic<const Primitive *> ready{nullptr}; ///< `primitive`; null until it exists
  ForkMutex creation;                            ///< guards the next two members
  std::unique_ptr<Primitive> primitive;
  std::unique_ptr<const Error> refusal; ///< permanent reason why there is no primitive; null: none
  ForkMutex reuse;                      ///< guards the next member
  std::vector<std::unique_ptr<Frame>> frames;
};

} // namespace quern

#endif // QUERN_RUNTIME_MLIR_CALLSITE_H
