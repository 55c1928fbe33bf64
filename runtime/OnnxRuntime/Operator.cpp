//===- Operator.cpp - Custom operators of ONNX Runtime ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Operator.h"

namespace quern::onnxruntime {
namespace {

/// The object that ONNX Runtime stores for a kernel.
struct Handle {
  const OrtApi &api;
  std::unique_ptr<OnnxKernel> kernel;
};

OrtStatus *createKernel(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info, void **kernel) noexcept {
  try {
    *kernel = new Handle{*api, static_cast<const Operator *>(op)->make(Node(*api, info))};
    return nullptr;
  } catch (...) {
    return currentFailure(*api);
  }
}

OrtStatus *execute(void *kernel, OrtKernelContext *context) noexcept {
  const auto *handle = static_cast<Handle *>(kernel);
  try {
    handle->kernel->execute(Execution(handle->api, context));
    return nullptr;
  } catch (...) {
    return currentFailure(handle->api);
  }
}

void destroyKernel(void *kernel) noexcept { delete static_cast<Handle *>(kernel); }

const char *nameOf(const OrtCustomOp *op) noexcept { return static_cast<const Operator *>(op)->name; }

/// Allows any type: the kernel checks it. A single output has the type of the input; the model declares the types of
/// several outputs.
ONNXTensorElementDataType anyType(const OrtCustomOp *, size_t) noexcept {
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

OrtCustomOpInputOutputCharacteristic characteristic(const OrtCustomOp *op, size_t /*index*/) noexcept {
  return static_cast<const Operator *>(op)->isVariadic ? INPUT_OUTPUT_VARIADIC : INPUT_OUTPUT_REQUIRED;
}

size_t one(const OrtCustomOp *) noexcept { return 1; }

} // namespace

Operator::Operator(const char *name, Maker make, bool isVariadic)
    : OrtCustomOp{}, name(name), make(make), isVariadic(isVariadic) {
  version = apiVersion;
  GetName = nameOf;
  GetExecutionProviderType = [](const OrtCustomOp *) -> const char * { return nullptr; }; // the CPU provider
  GetInputType = GetOutputType = anyType;
  GetInputTypeCount = GetOutputTypeCount = one;
  GetInputCharacteristic = GetOutputCharacteristic = characteristic;
  GetInputMemoryType = [](const OrtCustomOp *, size_t) { return OrtMemTypeDefault; };
  GetVariadicInputMinArity = GetVariadicOutputMinArity = [](const OrtCustomOp *) { return 1; };
  GetVariadicInputHomogeneity = GetVariadicOutputHomogeneity = [](const OrtCustomOp *) { return 0; };
  CreateKernelV2 = createKernel;
  KernelComputeV2 = execute;
  KernelDestroy = destroyKernel;
}

} // namespace quern::onnxruntime
