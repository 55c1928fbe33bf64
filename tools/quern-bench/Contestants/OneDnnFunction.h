//===- OneDnnFunction.h - oneDNN's versions of functions in MLIR ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Primitives of oneDNN that Quern does not have, in f32 and dense: the peers of functions (BenchProblem::equivalent).
//
//   layer_normalization RxC     over each row, with scale and shift, epsilon 1e-5
//   matmul MxNxK                followed by a bias for each column and the exact gelu
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_CONTESTANTS_ONEDNNFUNCTION_H
#define QUERN_BENCH_CONTESTANTS_ONEDNNFUNCTION_H

#include "GuardedBuffer.h"
#include "OneDnn.h"

#include <memory>
#include <string>
#include <vector>

namespace quern::bench {

class OneDnnFunction {
public:
  /// Creates the primitive of a function in the list above; returns null for another line. Throws std::runtime_error.
  static std::unique_ptr<OneDnnFunction> create(const OneDnn &library, const std::string &line);
  ~OneDnnFunction();
  void execute(int64_t calls) const;
  const std::string &implementation() const { return kernel; }

private:
  struct Argument {
    int index;
    void *memory;
  };
  explicit OneDnnFunction(const OneDnn &library);
  template <typename... Parameters> void call(const char *name, Parameters... parameters) const;
  void *describe(const std::vector<int64_t> &dims);
  void addArgument(int index, const std::vector<int64_t> &dims);
  void describeNormalization(int64_t rows, int64_t columns);
  void describeMatmul(int64_t rows, int64_t columns, int64_t depth);
  void finish();

  const OneDnn &library;
  void *engine = nullptr, *stream = nullptr, *desc = nullptr, *primitive = nullptr, *attributes = nullptr;
  std::vector<void *> descs;
  std::vector<GuardedBuffer> buffers;
  std::vector<Argument> arguments;
  std::string kernel;
};

} // namespace quern::bench

#endif // QUERN_BENCH_CONTESTANTS_ONEDNNFUNCTION_H
