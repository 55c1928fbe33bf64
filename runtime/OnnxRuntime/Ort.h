//===- Ort.h - Wrappers of the C interface of ONNX Runtime ------*- C++ -*-===//
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

/// API version of the functions that are called and of the members of OrtCustomOp that are set. Every ONNX Runtime from
/// this version on has them, independent of the headers that the library was built with.
inline constexpr uint32_t apiVersion = 16;

/// An error with the code for ONNX Runtime. It does not leave the library: Operator.cpp and Register.cpp catch it.
class Failure : public std::runtime_error {
public:
  Failure(OrtErrorCode code, const std::string &text) : std::runtime_error(text), code(code) {}

  const OrtErrorCode code;
};

/// Throws a Failure with the code and message of `status` unless it is null, and releases it.
void check(const OrtApi &api, OrtStatus *status);

/// Returns a status for the exception that is being handled, with a message of one line.
OrtStatus *currentFailure(const OrtApi &api) noexcept;

/// Type and shape of a tensor.
struct Tensor {
  ONNXTensorElementDataType type;
  std::vector<int64_t> dims; ///< sizes in elements; negative: unknown
};

/// A node of the model during the creation of its kernel.
class Node {
public:
  Node(const OrtApi &api, const OrtKernelInfo *info) : api(api), info(info) {}

  /// Return an attribute, or the default (nullopt for a text) if it is absent. They throw if the attribute has another
  /// type.
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
  /// Returns a pointer that is only read. It is not const, because memory objects are created from non-const pointers.
  void *inputData(size_t index) const;
  /// Allocates an output tensor and returns its buffer.
  void *outputData(size_t index, const std::vector<int64_t> &dims) const;

private:
  const OrtValue *value(size_t index) const;

  const OrtApi &api;
  OrtKernelContext *context;
};

} // namespace quern::onnxruntime

#endif // QUERN_ONNXRUNTIME_ORT_H
