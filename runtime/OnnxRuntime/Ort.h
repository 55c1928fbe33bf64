//===- Ort.h - ONNX Runtime's C interface, as the operators use it -*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_ONNXRUNTIME_ORT_H
#define QUERN_ONNXRUNTIME_ORT_H

#include <onnxruntime_c_api.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#if ORT_API_VERSION < 16
#error "quern-onnxruntime needs the headers of ONNX Runtime 1.16 or later (QUERN_ONNXRUNTIME_INCLUDE)"
#endif

namespace quern::onnxruntime {

/// Of the functions that are called and the members of OrtCustomOp that are set: any ONNX Runtime from this one on has
/// them, whatever headers the library was built with.
inline constexpr uint32_t apiVersion = 16;

/// What ONNX Runtime is told in the end. It crosses no boundary of the library: Operator.cpp and Register.cpp catch it.
class Failure : public std::runtime_error {
public:
  Failure(OrtErrorCode code, const std::string &text) : std::runtime_error(text), code(code) {}

  const OrtErrorCode code;
};

/// Throws what ONNX Runtime says, and releases it.
void check(const OrtApi &api, OrtStatus *status);

/// The status of the exception that is being handled, one line.
OrtStatus *currentFailure(const OrtApi &api) noexcept;

struct Tensor {
  ONNXTensorElementDataType type;
  std::vector<int64_t> dims; ///< negative: not known
};

/// A node while its kernel is made.
class Node {
public:
  Node(const OrtApi &api, const OrtKernelInfo *info) : api(api), info(info) {}

  /// Absent: the default. Throws where the attribute is of another type.
  int64_t integer(const char *name, int64_t byDefault) const;
  float real(const char *name, float byDefault) const;
  std::optional<std::string> text(const char *name) const;

  size_t inputCount() const;
  size_t outputCount() const;
  Tensor input(size_t index) const;
  Tensor output(size_t index) const;

  const OrtApi &api;

private:
  bool has(const char *name) const;
  void checkKind(const char *name, const char *kind, OrtStatus *status) const;
  template <typename Function> Tensor tensor(Function function, size_t index) const;

  const OrtKernelInfo *info;
};

/// The tensors of one execution.
class Execution {
public:
  Execution(const OrtApi &api, OrtKernelContext *context) : api(api), context(context) {}

  Tensor input(size_t index) const;
  /// Only read, whatever the type says: memory objects of both kinds of tensors are made alike.
  void *inputData(size_t index) const;
  /// Of a new tensor.
  void *outputData(size_t index, const std::vector<int64_t> &dims) const;

private:
  const OrtValue *value(size_t index) const;

  const OrtApi &api;
  OrtKernelContext *context;
};

} // namespace quern::onnxruntime

#endif // QUERN_ONNXRUNTIME_ORT_H
