//===- Launch.cpp - The calls that lowered kernels ask for ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compiler/Launch.h"

#include "Targets/Cpu/Pipeline.h"

using namespace mlir;
using namespace quern;

namespace {

/// The call with the buffers that the arguments are named after.
FailureOr<KernelCall> callByNames(Operation *kernel, ArrayAttr arguments) {
  KernelCall call{kernel, {}, kernel->hasAttr(kernel_attr::beside)};
  for (Attribute argument : arguments) {
    auto fields = dyn_cast<DictionaryAttr>(argument);
    auto name = fields ? fields.getAs<StringAttr>("name") : StringAttr();
    if (!name)
      return kernel->emitError() << kernel_attr::arguments << " must list {name = string, type = memref}";
    call.buffers.push_back({name.getValue(), 0});
  }
  return call;
}

FailureOr<KernelCall> callOf(Operation *kernel, Attribute buffers, size_t count) {
  KernelCall call{kernel, {}, false};
  auto list = dyn_cast<ArrayAttr>(buffers);
  for (size_t i = 0; list && i + 1 < list.size(); i += 2) {
    auto name = dyn_cast<StringAttr>(list[i]);
    auto offset = dyn_cast<IntegerAttr>(list[i + 1]);
    if (name && offset && offset.getInt() >= 0)
      call.buffers.push_back({name.getValue(), offset.getInt()});
  }
  if (!list || list.size() != 2 * count || call.buffers.size() != count)
    return kernel->emitError() << kernel_attr::calls << " must list a name and an offset in bytes for each of the " << count
                               << " arguments of each call";
  return call;
}

} // namespace

FailureOr<SmallVector<KernelCall, 4>> quern::callsOf(ModuleOp module) {
  SmallVector<KernelCall, 4> all;
  for (Operation &kernel : module.getBody()->getOperations()) {
    auto arguments = kernel.getAttrOfType<ArrayAttr>(kernel_attr::arguments);
    if (!arguments)
      continue;
    auto calls = kernel.getAttrOfType<ArrayAttr>(kernel_attr::calls);
    if (!calls) {
      FailureOr<KernelCall> call = callByNames(&kernel, arguments);
      if (failed(call))
        return failure();
      all.push_back(std::move(*call));
      continue;
    }
    for (auto [i, buffers] : llvm::enumerate(calls)) {
      FailureOr<KernelCall> call = callOf(&kernel, buffers, arguments.size());
      if (failed(call))
        return failure();
      call->besidePrevious = i > 0 || kernel.hasAttr(kernel_attr::beside);
      all.push_back(std::move(*call));
    }
  }
  return all;
}
