//===- Operator.h - What ONNX Runtime registers -----------------*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_ONNXRUNTIME_OPERATOR_H
#define QUERN_ONNXRUNTIME_OPERATOR_H

#include "Ort.h"

#include <memory>

namespace quern::onnxruntime {

/// Of one node of a session. Any number of threads may execute it at the same time.
class Kernel {
public:
  Kernel() = default;
  Kernel(const Kernel &) = delete;
  Kernel &operator=(const Kernel &) = delete;
  virtual ~Kernel() = default;

  virtual void execute(const Execution &execution) = 0;
};

/// One input and one output of one type, or any number of both (`isVariadic`), each of a type of its own.
struct Operator : OrtCustomOp {
  using Maker = std::unique_ptr<Kernel> (*)(const Node &);
  Operator(const char *name, Maker make, bool isVariadic = false);

  const char *const name;
  const Maker make;
  const bool isVariadic;
};

std::unique_ptr<Kernel> makeSoftmax(const Node &node);
std::unique_ptr<Kernel> makeLogSoftmax(const Node &node);
std::unique_ptr<Kernel> makeEltwise(const Node &node);
std::unique_ptr<Kernel> makeFunction(const Node &node);

} // namespace quern::onnxruntime

#endif // QUERN_ONNXRUNTIME_OPERATOR_H
