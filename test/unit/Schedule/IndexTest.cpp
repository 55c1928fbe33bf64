//===- IndexTest.cpp - Arithmetic of indices ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that KernelBuilder folds numbers, emits nothing for them, and reads an open size once.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/KernelBuilder.h"

#include "IR/QuernDialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

namespace {

class IndexTest : public testing::Test {
protected:
  IndexTest() : module(ModuleOp::create(UnknownLoc::get(&context))), k(makeProblem()) {
    KernelTraits traits;
    traits.name = "kernel";
    k.beginKernel(cast<func::FuncOp>(module->getBody()->front()), &module->getBody()->front(), traits, {});
    iteration = k.beginSpace().getInductionVar();
  }
  func::FuncOp makeProblem() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, memref::MemRefDialect, scf::SCFDialect,
                        vector::VectorDialect, QuernDialect>();
    OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
    auto memref = MemRefType::get({ShapedType::kDynamic}, b.getF32Type());
    auto problem = func::FuncOp::create(b, b.getUnknownLoc(), "problem", b.getFunctionType({memref}, {}));
    problem.addEntryBlock();
    return problem;
  }
  /// Returns the number of operations of the kernel, except constants.
  int64_t ops() {
    int64_t count = 0;
    k.kernel.function.walk([&](Operation *op) { count += !isa<arith::ConstantOp>(op); });
    return count;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  KernelBuilder k;
  Value iteration;
};

TEST_F(IndexTest, FoldsNumbers) {
  const int64_t before = ops();
  EXPECT_EQ(k.add(3, 4), Index(7));
  EXPECT_EQ(k.sub(3, 4), Index(-1));
  EXPECT_EQ(k.mul(3, Size(4)), Index(12));
  EXPECT_EQ(k.floorDiv(9, 4), Index(2));
  EXPECT_EQ(k.ceilDiv(9, 4), Index(3));
  EXPECT_EQ(k.mod(9, 4), Index(1));
  EXPECT_EQ(k.min(9, 4), Index(4));
  EXPECT_EQ(k.max(9, 4), Index(9));
  EXPECT_EQ(k.roundDown(9, 4), Index(8));
  EXPECT_EQ(k.add(k.index(3), 4), k.index(7));
  EXPECT_EQ(Index(k.isLess(3, 4)).number(), -1); // true as a signed bit
  EXPECT_EQ(Index(k.isAtMost(5, 4)).number(), 0);
  EXPECT_EQ(Index(k.isEqual(4, 4)).number(), -1);
  EXPECT_EQ(ops(), before);
}

TEST_F(IndexTest, FoldsNeutralOperands) {
  const int64_t before = ops();
  EXPECT_EQ(k.add(iteration, 0), iteration);
  EXPECT_EQ(k.sub(iteration, 0), iteration);
  EXPECT_EQ(k.mul(iteration, 1), iteration);
  EXPECT_EQ(k.mul(Index(iteration), 0), Index(0));
  EXPECT_EQ(k.floorDiv(iteration, 1), iteration);
  EXPECT_EQ(k.mod(Index(iteration), 1), Index(0));
  EXPECT_EQ(k.both(k.isLess(0, 1), iteration), iteration);
  EXPECT_EQ(ops(), before);
  EXPECT_FALSE(k.add(iteration, 1) == iteration);
  EXPECT_FALSE(k.sub(Index(0), iteration).isNumber());
  EXPECT_EQ(ops(), before + 2);
}

TEST_F(IndexTest, ReadsAnOpenSizeOnce) {
  const int64_t before = ops();
  Value size = k.index(Size::open(0));
  EXPECT_EQ(k.index(Size::open(0)), size);
  EXPECT_EQ(ops(), before + 1);
  Value twice = k.index(Size::open(0) * 2);
  EXPECT_EQ(k.index(Size::open(0) * 2), twice);
  EXPECT_EQ(ops(), before + 2);
  EXPECT_TRUE(twice.getDefiningOp<arith::MulIOp>());
  EXPECT_FALSE(Index(Size::open(0)).isNumber());
  EXPECT_NE(Index(Size::open(0)), Index(Size::open(1)));
}

TEST_F(IndexTest, KeepsTheTypeOfValues) {
  Value narrow = k.create<arith::IndexCastOp>(k.b.getI32Type(), iteration);
  EXPECT_TRUE(k.add(narrow, 5).getType().isInteger(32));
  EXPECT_TRUE(k.mul(narrow, 0).getType().isInteger(32));
  EXPECT_TRUE(k.index(k.min(7, narrow)).getType().isInteger(32));
}

TEST_F(IndexTest, ChoosesByConstantsWithoutACondition) {
  std::string taken;
  const int64_t before = ops();
  k.choose(Value(), [&] { taken += "a"; }, [&] { taken += "b"; });
  k.choose(k.isLess(1, 2), [&] { taken += "c"; }, [&] { taken += "d"; });
  k.choose(k.isLess(2, 1), [&] { taken += "e"; }, [&] { taken += "f"; });
  k.choose(k.isLess(2, 1), [&] { taken += "g"; });
  EXPECT_EQ(taken, "acf");
  EXPECT_EQ(ops(), before);
  k.choose(k.isLess(iteration, 1), [&] { taken += "h"; }, [&] { taken += "i"; });
  EXPECT_EQ(taken, "acfhi");
}

TEST_F(IndexTest, MasksByNumbersAreConstants) {
  const int64_t before = ops();
  EXPECT_TRUE(k.prefixMask(3, 8).getDefiningOp<arith::ConstantOp>());
  EXPECT_EQ(k.prefixMask(9, 8), k.prefixMask(8, 8));
  EXPECT_EQ(k.prefixMask(-1, 8), k.prefixMask(0, 8));
  EXPECT_EQ(ops(), before);
  EXPECT_FALSE(k.prefixMask(iteration, 8).getDefiningOp<arith::ConstantOp>());
}

} // namespace
