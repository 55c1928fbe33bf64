//===- Transforms.cpp - Names and registration of the passes --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Passes are registered on request, never by a static initializer: an embedding process may register other passes.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Transforms.h"

#include "Transforms/Packed/PackedElements.h"
#include "Transforms/Packed/SharedBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

#include <mutex>

using namespace mlir;

namespace quern {
namespace {

/// A pass that replaces operations of a function by instructions of a target.
struct InstructionsPass : PassWrapper<InstructionsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InstructionsPass)
  using Function = LogicalResult (*)(func::FuncOp, const Target &);
  InstructionsPass(StringRef name, StringRef description, Function function)
      : name(name), description(description), function(function) {}
  InstructionsPass(const InstructionsPass &other)
      : PassWrapper(other), name(other.name), description(other.description), function(other.function) {}

  StringRef getArgument() const override { return name; }
  StringRef getDescription() const override { return description; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    Result<Target> parsed = Target::parse(target.getValue());
    if (!parsed)
      getOperation().emitError(name) << ": " << parsed.error().message;
    if (!parsed || failed(function(getOperation(), *parsed)))
      signalPassFailure();
  }

  StringRef name, description;
  Function function;
  Option<std::string> target{*this, "target", llvm::cl::desc(targetOptionText), llvm::cl::init("avx512_core")};
};

/// Adapts an expansion that cannot fail.
template <void (*expand)(func::FuncOp, const Target &)>
LogicalResult expandAlways(func::FuncOp function, const Target &target) {
  expand(function, target);
  return success();
}

/// A pass on a module of problems or kernels.
struct BuffersPass : PassWrapper<BuffersPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BuffersPass)
  using Function = LogicalResult (*)(ModuleOp, std::string &);
  BuffersPass(StringRef name, StringRef description, Function function)
      : name(name), description(description), function(function) {}

  StringRef getArgument() const override { return name; }
  StringRef getDescription() const override { return description; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, memref::MemRefDialect>();
  }
  void runOnOperation() override {
    std::string whyNot;
    if (succeeded(function(getOperation(), whyNot)))
      return;
    getOperation().emitError(name) << ": " << whyNot;
    signalPassFailure();
  }

  StringRef name, description;
  Function function;
};

void registerInstructions(StringRef name, StringRef description, InstructionsPass::Function function) {
  registerPass(
      [=]() -> std::unique_ptr<Pass> { return std::make_unique<InstructionsPass>(name, description, function); });
}

void registerBuffers(StringRef name, StringRef description, BuffersPass::Function function) {
  registerPass([=]() -> std::unique_ptr<Pass> { return std::make_unique<BuffersPass>(name, description, function); });
}

LogicalResult bindAllSharedBuffers(ModuleOp module, std::string &) {
  const int64_t end = endOfSharedBuffers(module);
  for (auto kernel : module.getOps<func::FuncOp>())
    bindSharedBuffers(kernel, end);
  return success();
}

LogicalResult pairAllElements(ModuleOp module, std::string &) {
  pairElements(module);
  return success();
}

} // namespace

void registerTransformPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerPass([] { return createExpandMathPass(); });
    registerInstructions("quern-expand-narrow-floats",
                         "Store narrow floats and i4 in whole bytes and convert by integer arithmetic or F16C",
                         expandNarrowFloats);
    registerInstructions("quern-expand-saturation", "Convert floats to integers of a range in fewer instructions",
                         expandAlways<expandSaturation>);
    registerInstructions("quern-expand-byte-sums", "Sum adjacent bytes by instructions on bytes",
                         expandAlways<expandByteSums>);
    registerInstructions("quern-expand-dots", "Multiply elements packed in 32-bit lanes by one instruction",
                         expandAlways<expandDots>);
    registerBuffers("quern-pair-elements", "Compute the two half bytes of a byte in one iteration", pairAllElements);
    registerBuffers("quern-unpack-elements", "Unpack half bytes to whole bytes of shared memory", unpackElements);
    registerBuffers("quern-bind-shared-buffers", "Replace shared buffers of kernels by views of one argument",
                    bindAllSharedBuffers);
  });
}

} // namespace quern
