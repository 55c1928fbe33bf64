//===- Operator.h - Custom operators of ONNX Runtime ------------*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_ONNXRUNTIME_OPERATOR_H
#define QUERN_ONNXRUNTIME_OPERATOR_H

#include "Ort.h"

#include <memory>

namespace quern::onnxruntime {

/// The kernel of one node of a session. Any number of threads may execute it at the same time.
class OnnxKernel {
public:
  OnnxKernel() = default;
  OnnxKernel(const OnnxKernel &) = delete;
  OnnxKernel &operator=(const OnnxKernel &) = delete;
  virtual ~OnnxKernel() = default;

  virtual void execute(const Execution &execution) = 0;
};

/// A custom operator with one input and one output of the same type, or with any number of inputs and outputs of any
/// type (`isVariadic`).
struct Operator : OrtCustomOp {
  using Maker = std::unique_ptr<OnnxKernel> (*)(const Node &);
  Operator(const char *name, Maker make, bool isVariadic = false);

  const char *const name;
  const Maker make;
  const bool isVariadic;
};

std::unique_ptr<OnnxKernel> makeSoftmax(const Node &node);
std::unique_ptr<OnnxKernel> makeLogSoftmax(const Node &node);
std::unique_ptr<OnnxKernel> makeEltwise(const Node &node);
std::unique_ptr<OnnxKernel> makeFunction(const Node &node);

} // namespace quern::onnxruntime

#endif // QUERN_ONNXRUNTIME_OPERATOR_H
