//===- Api.h - Quern's C interface with owners and exceptions -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The harness times single calls of the C interface and therefore uses it directly. This file has helpers for its
// callers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_API_H
#define QUERN_BENCH_API_H

#include "GuardedBuffer.h"
#include "Problems/Problem.h"

#include "quern/quern.h"

#include <memory>
#include <stdexcept>
#include <type_traits>

namespace quern::bench {

/// Throws std::runtime_error with the library's message unless `status` is quern_success.
inline void check(quern_status_t status) {
  if (status != quern_success)
    throw std::runtime_error(quern_get_last_error_message());
}

template <auto Destroy> struct Destroyer {
  template <typename T> void operator()(T *handle) const { Destroy(handle); }
};
template <typename Handle, auto Destroy>
using Owner = std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<Destroy>>;
using Engine = Owner<quern_engine_t, quern_engine_destroy>;
using Stream = Owner<quern_stream_t, quern_stream_destroy>;
using Memory = Owner<quern_memory_t, quern_memory_destroy>;
using PrimitiveDesc = Owner<quern_primitive_desc_t, quern_primitive_desc_destroy>;
using Primitive = Owner<quern_primitive_t, quern_primitive_destroy>;

Engine createEngine(quern_engine_kind_t kind = quern_cpu);
Stream createStream(const Engine &engine, unsigned flags = quern_stream_default_flags);
PrimitiveDesc createPrimitiveDesc(const Engine &engine, const std::string &line);
Primitive createPrimitive(const PrimitiveDesc &desc);
/// Compiles a problem for `target` and returns its artifact, or another form of the code.
std::string compileFor(const std::string &line, const std::string &target,
                       quern_code_form_t form = quern_form_artifact);
/// Returns the buffer of a memory object, which must be on a CPU engine.
char *dataOf(const Memory &memory);

/// A primitive with its buffers, ready to run.
struct BoundKernel {
  BoundKernel(const Engine &engine, const BenchProblem &problem);
  /// Fills all tensors with the values that every contestant uses, including outputs, because a sum reads them. Forward
  /// computes the workspace of a backward RNN.
  void fill(const Engine &engine, const BenchProblem &problem) const;
  void run(const Stream &stream) const;

  PrimitiveDesc desc;
  Primitive primitive;
  std::vector<Memory> memories; ///< in the order of the problem's arguments

private:
  Memory createMemory(const Engine &engine, const ArgumentInfo &argument);
  /// Executes `forward` and copies its workspace for `backward`, which is this problem.
  void takeWorkspace(const Engine &engine, const BenchProblem &forward, const BenchProblem &backward) const;

  std::vector<GuardedBuffer> buffers; ///< used only on the CPU; a device allocates its memory
  std::vector<quern_exec_arg_t> args;
};

} // namespace quern::bench

#endif // QUERN_BENCH_API_H
