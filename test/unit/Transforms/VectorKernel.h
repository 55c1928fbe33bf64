//===- VectorKernel.h - One vector operation as a callable loop -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles `y[i] = op(x[i])` on vectors with the passes under test and the real back end, so that a test runs machine
// code and not a model of it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_VECTORKERNEL_H
#define QUERN_TEST_VECTORKERNEL_H

#include "Desc/Target.h"
#include "quern-compiler/Compiler.h"
#include "quern-compiler/Passes.h"
#include "quern/kernel_abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "gtest/gtest.h"

#include <functional>
#include <string>
#include <vector>

namespace quern {

/// `pipeline` names the passes that run on the module before it is lowered; `operation` is MLIR that computes %y:
/// vector<LANESxTO> from %x: vector<LANESxFROM>. If `body` is set, it emits the operation on scalars instead, which are
/// then converted to vectors.
struct VectorKernelSpec {
  std::string target, pipeline, operation, from, to;
  int lanes = 16;
  std::function<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value)> body = {};
};

class VectorKernel {
public:
  static constexpr int64_t chunk = 3840; ///< elements per call; a multiple of every number of lanes

  explicit VectorKernel(const VectorKernelSpec &spec) {
    compiler::registerPasses();
    mlir::DialectRegistry registry;
    compiler::registerDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text(spec), context.get());
    if (!module)
      return;
    if (spec.body)
      writeBody(*module, spec);
    auto passes = mlir::PassManager::on<mlir::ModuleOp>(context.get());
    if (failed(parsePassPipeline(spec.pipeline, passes)) || failed(passes.run(*module)))
      return;
    if (failed(compiler::lower(*module, spec.target)))
      return;
    if (auto loaded = compiler::load(*module, spec.target, {"map_kernel"}); succeeded(loaded))
      kernel = std::move(*loaded);
  }

  bool ok() const { return kernel.entry() != nullptr; }

  template <typename From, typename To> void run(const std::vector<From> &x, std::vector<To> &y) const {
    ASSERT_EQ(x.size(), static_cast<size_t>(chunk));
    y.resize(chunk);
    void *buffers[] = {const_cast<From *>(x.data()), y.data()};
    quern_kernel_args_t args{buffers, nullptr};
    reinterpret_cast<quern_kernel_fn>(kernel.entry())(&args, 0, 1);
  }

private:
  /// Replaces the placeholder cast by the body, with vectors in place of scalars.
  static void writeBody(mlir::ModuleOp module, const VectorKernelSpec &spec) {
    module.walk([&](mlir::UnrealizedConversionCastOp placeholder) {
      mlir::OpBuilder builder(placeholder);
      mlir::Location loc = placeholder.getLoc();
      mlir::Value x = placeholder.getOperand(0);
      auto lanes = mlir::cast<mlir::VectorType>(x.getType());
      mlir::Value scalar = mlir::vector::ExtractOp::create(builder, loc, x, int64_t(0));
      mlir::Operation *before = scalar.getDefiningOp();
      mlir::Value y = spec.body(builder, loc, scalar);
      for (mlir::Operation *op = before->getNextNode(); op != placeholder; op = op->getNextNode()) {
        mlir::Value result = op->getResult(0);
        mlir::VectorType type = lanes.clone(result.getType());
        if (auto constant = mlir::dyn_cast<mlir::arith::ConstantOp>(op))
          constant.setValueAttr(mlir::DenseElementsAttr::get(type, mlir::Attribute(constant.getValue())));
        result.setType(type);
      }
      scalar.replaceAllUsesWith(x);
      before->erase();
      placeholder->getResult(0).replaceAllUsesWith(y == scalar ? x : y);
      placeholder->erase();
    });
  }

  static std::string text(const VectorKernelSpec &spec) {
    std::string size = std::to_string(chunk), lanes = std::to_string(spec.lanes);
    std::string from = "vector<" + lanes + "x" + spec.from + ">", to = "vector<" + lanes + "x" + spec.to + ">";
    std::string operation =
        spec.body ? "%y = builtin.unrealized_conversion_cast %x : " + from + " to " + to : spec.operation;
    std::string x = "memref<" + size + "x" + spec.from + ">", y = "memref<" + size + "x" + spec.to + ">";
    return "func.func @map_kernel(%src: " + x + " {quern.arg = \"src\"}, %dst: " + y +
           " {quern.arg = \"dst\"}, %begin: index, %end: index) attributes {quern.kernel = #quern.kernel<space = 1>} "
           "{\n"
           "  %zero = arith.constant 0 : index\n  %size = arith.constant " +
           size + " : index\n  %step = arith.constant " + lanes +
           " : index\n  scf.for %i = %zero to %size step %step {\n    %x = vector.load %src[%i] : " + x + ", " + from +
           "\n    " + operation + "\n    vector.store %y, %dst[%i] : " + y + ", " + to + "\n  }\n  return\n}\n";
  }

  std::unique_ptr<mlir::MLIRContext> context;
  compiler::LoadedKernel kernel;
};

/// Returns true if this machine runs code for `target`.
inline bool canRun(const std::string &target) {
  auto parsed = Target::parse(target);
  return parsed && Target::host().runs(*parsed);
}

} // namespace quern

#endif // QUERN_TEST_VECTORKERNEL_H
