//===- Ort.cpp - Wrappers of the C interface of ONNX Runtime ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Ort.h"

#include "quern/quern.hpp"

#include <memory>
#include <new>

namespace quern::onnxruntime {
namespace {

/// Deleter that calls a release function of the interface.
template <typename Object> struct Releaser {
  void (*release)(Object *);
  void operator()(Object *object) const { release(object); }
};
template <typename Object> using Owned = std::unique_ptr<Object, Releaser<Object>>;

Tensor describe(const OrtApi &api, const OrtTensorTypeAndShapeInfo *info) {
  Tensor tensor{ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, {}};
  size_t rank = 0;
  check(api, api.GetTensorElementType(info, &tensor.type));
  check(api, api.GetDimensionsCount(info, &rank));
  tensor.dims.resize(rank);
  check(api, api.GetDimensions(info, tensor.dims.data(), rank));
  return tensor;
}

OrtErrorCode codeOf(quern_status_t status) {
  switch (status) {
  case quern_invalid_arguments:
    return ORT_INVALID_ARGUMENT;
  case quern_unimplemented:
    return ORT_NOT_IMPLEMENTED;
  case quern_runtime_error:
    return ORT_RUNTIME_EXCEPTION;
  default:
    return ORT_FAIL;
  }
}

/// Returns the first line of a message. Further lines may show the problem and a caret.
std::string firstLine(const std::string &text) { return text.substr(0, text.find('\n')); }

} // namespace

void check(const OrtApi &api, OrtStatus *status) {
  if (!status)
    return;
  const Owned<OrtStatus> owned(status, {api.ReleaseStatus});
  throw Failure(ORT_FAIL, api.GetErrorMessage(status));
}

OrtStatus *currentFailure(const OrtApi &api) noexcept {
  try {
    throw;
  } catch (const Failure &failure) {
    return api.CreateStatus(failure.code, failure.what());
  } catch (const quern::error &error) {
    try {
      return api.CreateStatus(codeOf(error.status), ("quern: " + firstLine(error.what())).c_str());
    } catch (...) {
      return api.CreateStatus(ORT_FAIL, "quern: out of memory");
    }
  } catch (const std::bad_alloc &) {
    return api.CreateStatus(ORT_FAIL, "quern: out of memory");
  } catch (const std::exception &exception) {
    return api.CreateStatus(ORT_FAIL, exception.what());
  } catch (...) {
    return api.CreateStatus(ORT_FAIL, "quern: unknown exception");
  }
}

// The interface cannot query whether an attribute exists, and reading it with a wrong type fails as if it were absent,
// so all types are tried.
bool Node::has(const char *name) const {
  float real = 0;
  int64_t integer = 0;
  size_t size = 0;
  const auto succeeds = [&](OrtStatus *status) {
    if (status)
      api.ReleaseStatus(status);
    return !status;
  };
  return succeeds(api.KernelInfoGetAttribute_int64(info, name, &integer)) ||
         succeeds(api.KernelInfoGetAttribute_float(info, name, &real)) ||
         succeeds(api.KernelInfoGetAttribute_string(info, name, nullptr, &size)) ||
         succeeds(api.KernelInfoGetAttributeArray_int64(info, name, nullptr, &size)) ||
         succeeds(api.KernelInfoGetAttributeArray_float(info, name, nullptr, &size));
}

/// Throws a Failure that names the attribute if `status` is an error, because the message of ONNX Runtime does not.
void Node::checkKind(const char *name, const char *kind, OrtStatus *status) const {
  if (!status)
    return;
  api.ReleaseStatus(status);
  throw Failure(ORT_INVALID_ARGUMENT, "quern: the attribute " + std::string(name) + " is not " + kind);
}

int64_t Node::integer(const char *name, int64_t byDefault) const {
  if (has(name))
    checkKind(name, "an integer", api.KernelInfoGetAttribute_int64(info, name, &byDefault));
  return byDefault;
}

float Node::real(const char *name, float byDefault) const {
  if (has(name))
    checkKind(name, "a float", api.KernelInfoGetAttribute_float(info, name, &byDefault));
  return byDefault;
}

std::optional<std::string> Node::text(const char *name) const {
  if (!has(name))
    return std::nullopt;
  size_t size = 0; // including the terminating zero
  checkKind(name, "a string", api.KernelInfoGetAttribute_string(info, name, nullptr, &size));
  std::string value(size, '\0');
  check(api, api.KernelInfoGetAttribute_string(info, name, value.data(), &size));
  value.resize(size > 0 ? size - 1 : 0);
  return value;
}

size_t Node::inputCount() const {
  size_t count = 0;
  check(api, api.KernelInfo_GetInputCount(info, &count));
  return count;
}

size_t Node::outputCount() const {
  size_t count = 0;
  check(api, api.KernelInfo_GetOutputCount(info, &count));
  return count;
}

template <typename Function> Tensor Node::tensor(Function function, size_t index) const {
  OrtTypeInfo *type = nullptr;
  check(api, function(info, index, &type));
  const Owned<OrtTypeInfo> owned(type, {api.ReleaseTypeInfo});
  const OrtTensorTypeAndShapeInfo *shape = nullptr; // owned by the type
  check(api, api.CastTypeInfoToTensorInfo(type, &shape));
  if (!shape)
    throw Failure(ORT_INVALID_ARGUMENT, "quern: operand " + std::to_string(index) + " is not a tensor");
  return describe(api, shape);
}

Tensor Node::input(size_t index) const { return tensor(api.KernelInfo_GetInputTypeInfo, index); }
Tensor Node::output(size_t index) const { return tensor(api.KernelInfo_GetOutputTypeInfo, index); }

const OrtValue *Execution::value(size_t index) const {
  const OrtValue *value = nullptr;
  check(api, api.KernelContext_GetInput(context, index, &value));
  if (!value)
    throw Failure(ORT_INVALID_ARGUMENT, "quern: input " + std::to_string(index) + " is missing");
  return value;
}

Tensor Execution::input(size_t index) const {
  OrtTensorTypeAndShapeInfo *info = nullptr;
  check(api, api.GetTensorTypeAndShape(value(index), &info));
  const Owned<OrtTensorTypeAndShapeInfo> owned(info, {api.ReleaseTensorTypeAndShapeInfo});
  return describe(api, info);
}

void *Execution::inputData(size_t index) const {
  void *data = nullptr;
  check(api, api.GetTensorMutableData(const_cast<OrtValue *>(value(index)), &data));
  return data;
}

void *Execution::outputData(size_t index, const std::vector<int64_t> &dims) const {
  OrtValue *value = nullptr;
  void *data = nullptr;
  check(api, api.KernelContext_GetOutput(context, index, dims.data(), dims.size(), &value));
  if (!value)
    throw Failure(ORT_INVALID_ARGUMENT, "quern: output " + std::to_string(index) + " is missing");
  check(api, api.GetTensorMutableData(value, &data));
  return data;
}

} // namespace quern::onnxruntime
