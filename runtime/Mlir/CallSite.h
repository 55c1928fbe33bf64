//===- CallSite.h - Where generated code calls a function -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What quern_mlir_call() remembers from one call to the next. Of the memory of a call only the addresses are likely to
// be new, so that memory objects are kept, and made anew where sizes, strides or offsets are others than before.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_MLIR_CALLSITE_H
#define QUERN_RUNTIME_MLIR_CALLSITE_H

#include "Core/Primitive.h"

#include "quern/quern_mlir_call.h"

#include <mutex>

namespace quern {

class CallSite {
public:
  CallSite();
  ~CallSite();
  /// Makes the kernel if none is there. Thread-safe.
  Result<void> call(const quern_mlir_function_t &function, std::span<const quern_mlir_memref_t> memrefs);

private:
  /// Memory of the arguments of one call at a time.
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
  std::atomic<const Primitive *> ready{nullptr}; ///< `primitive`, once it is there
  ForkMutex creation;                            ///< guards the next two members
  std::unique_ptr<Primitive> primitive;
  std::unique_ptr<const Error> refusal; ///< why there will never be one
  ForkMutex reuse;                      ///< guards the next member
  std::vector<std::unique_ptr<Frame>> frames;
};

} // namespace quern

#endif // QUERN_RUNTIME_MLIR_CALLSITE_H
