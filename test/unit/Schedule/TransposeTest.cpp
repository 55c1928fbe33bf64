//===- TransposeTest.cpp - Transposition of registers ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests transpositions of `lanes` rows of one register each, with the real back end, for every type and register size,
// and compares every byte.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/Transpose.h"
#include "IR/QuernDialect.h"

#include "../Transforms/VectorKernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;

namespace {

/// Emits y[column][row] = x[row][column] for `lanes` rows and the columns of one register.
OwningOpRef<ModuleOp> writeKernel(MLIRContext &context, Type element, int64_t lanes) {
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  int64_t unit = transposeUnit(element);
  OwningOpRef<ModuleOp> module(ModuleOp::create(loc));
  b.setInsertionPointToEnd(module->getBody());
  auto memref = MemRefType::get({lanes * unit}, element);
  auto kernel = func::FuncOp::create(b, loc, "kernel",
                                     b.getFunctionType({memref, memref, b.getIndexType(), b.getIndexType()}, {}));
  kernel->setAttr(KernelAttr::name, KernelAttr::get(&context, /*space=*/1, PlanAttr(), ""));
  b.setInsertionPointToEnd(kernel.addEntryBlock());
  Value src = kernel.getArgument(0), dst = kernel.getArgument(1), scratch;
  if (int64_t elements = transposeScratch(element, lanes))
    scratch = memref::AllocaOp::create(b, loc, MemRefType::get({elements}, element), b.getI64IntegerAttr(64));
  auto index = [&](int64_t i) -> Value { return arith::ConstantIndexOp::create(b, loc, i); };
  auto placed = [&](Value from, int64_t at, int64_t scale) {
    Value base = from ? arith::MulIOp::create(b, loc, from, index(scale)).getResult() : index(0);
    return arith::AddIOp::create(b, loc, base, index(at * scale)).getResult();
  };
  auto gather = [&](Value from, int64_t row) {
    SmallVector<Value> pieces;
    for (int64_t square = 0; square < lanes / unit; ++square)
      pieces.push_back(vector::LoadOp::create(b, loc, VectorType::get({unit}, element), src,
                                              placed(from, row + square * unit, unit)));
    return joinVectors(b, loc, pieces);
  };
  auto sink = [&](Value from, ArrayRef<Value> columns) {
    for (auto [j, column] : llvm::enumerate(columns))
      vector::StoreOp::create(b, loc, column, dst, placed(from, j, lanes));
  };
  transposeSquares(b, loc, element, lanes, {gather, sink}, scratch, index);
  func::ReturnOp::create(b, loc);
  return module;
}

struct TransposeCase {
  std::string target;
  int64_t vectorBytes;
};

class Transpose : public testing::TestWithParam<TransposeCase> {};

TEST_P(Transpose, EveryElementOnEveryRegister) {
  if (!canRun(GetParam().target))
    GTEST_SKIP() << "this machine has no " << GetParam().target;
  DialectRegistry registry;
  compiler::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Builder builder(&context);
  for (Type element :
       {Type(builder.getI8Type()), Type(builder.getI16Type()), Type(builder.getBF16Type()), Type(builder.getF16Type()),
        Type(builder.getF32Type()), Type(builder.getI32Type()), Type(builder.getF64Type())})
    for (int64_t registerBytes = 16; registerBytes <= GetParam().vectorBytes; registerBytes *= 2) {
      int64_t bytes = element.getIntOrFloatBitWidth() / 8, lanes = registerBytes / bytes, unit = transposeUnit(element);
      OwningOpRef<ModuleOp> module = writeKernel(context, element, lanes);
      ASSERT_TRUE(succeeded(compiler::lower(*module, GetParam().target)));
      auto kernel = compiler::load(*module, GetParam().target, {"kernel"});
      ASSERT_TRUE(succeeded(kernel));
      std::vector<unsigned char> x(lanes * unit * bytes), y(x.size());
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<unsigned char>(i * 167 + (i >> 8) * 13);
      void *buffers[] = {x.data(), y.data()};
      quern_kernel_args_t args{buffers, nullptr};
      reinterpret_cast<quern_kernel_fn>(kernel->entry())(&args, 0, 1);
      for (int64_t row = 0; row < lanes; ++row)
        for (int64_t column = 0; column < unit; ++column)
          for (int64_t byte = 0; byte < bytes; ++byte)
            ASSERT_EQ(y[(column * lanes + row) * bytes + byte], x[(row * unit + column) * bytes + byte])
                << bytes << " bytes, " << lanes << " lanes, row " << row << ", column " << column;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, Transpose,
                         testing::Values(TransposeCase{"sse42", 16}, TransposeCase{"avx2", 32},
                                         TransposeCase{"avx512_core", 64}, TransposeCase{"neon", 16},
                                         TransposeCase{"sve:vl=128", 16}, TransposeCase{"sve:vl=256", 32},
                                         TransposeCase{"sve:vl=512", 64}),
                         [](const auto &info) {
                           std::string name = info.param.target;
                           std::replace_if(name.begin(), name.end(), [](char c) { return c == ':' || c == '='; }, '_');
                           return name;
                         });

} // namespace
