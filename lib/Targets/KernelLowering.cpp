//===- KernelLowering.cpp - Steps that the targets' lowerings share -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/KernelLowering.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace quern;

void quern::registerAllStageDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                  gpu::GPUDialect, linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  QuernDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

ArgumentAttr quern::describeArgument(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, attr::arg);
  return ArgumentAttr::get(function.getContext(), name ? name.str() : ("arg" + Twine(argument)).str(),
                           cast<MemRefType>(function.getArgument(argument).getType()));
}

void quern::prepareForBarePointers(func::FuncOp function) {
  constexpr int64_t anyExtent = int64_t(1) << 40;
  for (BlockArgument argument : function.getArguments()) {
    if (auto type = dyn_cast<MemRefType>(argument.getType()); type && type.getRank() == 1 && type.isDynamicDim(0))
      argument.setType(MemRefType::get({anyExtent}, type.getElementType(), AffineMap(), type.getMemorySpace()));
    function.setArgAttrs(argument.getArgNumber(), ArrayRef<NamedAttribute>());
  }
  function.walk([](arith::SelectOp choice) { // the operands are arguments
    if (isa<MemRefType>(choice.getType()))
      choice.getResult().setType(choice.getTrueValue().getType());
  });
  function.setFunctionType(FunctionType::get(function.getContext(), function.getBody().front().getArgumentTypes(),
                                             function.getResultTypes()));
}

void quern::forwardDescriptorFields(LLVM::LLVMFuncOp function) {
  SmallVector<LLVM::InsertValueOp> inserts;
  function.walk([&](Operation *op) {
    if (auto insert = dyn_cast<LLVM::InsertValueOp>(op))
      inserts.push_back(insert);
    auto extract = dyn_cast<LLVM::ExtractValueOp>(op);
    if (!extract)
      return;
    ArrayRef<int64_t> wanted = extract.getPosition();
    for (auto insert = extract.getContainer().getDefiningOp<LLVM::InsertValueOp>(); insert;
         insert = insert.getContainer().getDefiningOp<LLVM::InsertValueOp>()) {
      ArrayRef<int64_t> written = insert.getPosition();
      if (written == wanted) {
        extract.getResult().replaceAllUsesWith(insert.getValue());
        extract.erase();
        return;
      }
      size_t shared = std::min(written.size(), wanted.size());
      if (written.take_front(shared) == wanted.take_front(shared))
        return; // written as part of an aggregate, or in parts
    }
  });
  for (LLVM::InsertValueOp insert : llvm::reverse(inserts))
    if (insert->use_empty())
      insert.erase();
}

void quern::eraseUnusedSums(LLVM::LLVMFuncOp function) {
  function.walk<WalkOrder::PostOrder, mlir::ReverseIterator>([](LLVM::AddOp sum) {
    if (sum->use_empty())
      sum.erase();
  });
}

KernelConversion::KernelConversion(MLIRContext &context,
                                   function_ref<void(LLVMTypeConverter &, RewritePatternSet &)> addTargetPatterns) {
  LowerToLLVMOptions options(&context);
  options.useBarePtrCallConv = true;
  types = std::make_unique<LLVMTypeConverter>(&context, options);
  RewritePatternSet set(&context);
  populateSCFToControlFlowConversionPatterns(set);
  cf::populateControlFlowToLLVMConversionPatterns(*types, set);
  arith::populateArithToLLVMConversionPatterns(*types, set);
  populateMathToLLVMConversionPatterns(*types, set);
  populateFinalizeMemRefToLLVMConversionPatterns(*types, set);
  populateFuncToLLVMConversionPatterns(*types, set);
  populateVectorToLLVMConversionPatterns(*types, set);
  ub::populateUBToLLVMConversionPatterns(*types, set);
  addTargetPatterns(*types, set);
  patterns = FrozenRewritePatternSet(std::move(set));
  legal = std::make_unique<LLVMConversionTarget>(context);
  legal->addLegalOp<ModuleOp>();
}

KernelConversion::~KernelConversion() = default;

LogicalResult KernelConversion::run(ModuleOp module) const {
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never; // recipes leave nothing to fold
  return applyFullConversion(module, *legal, patterns, config);
}
