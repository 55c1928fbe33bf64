//===- ExpandByteSums.cpp - Sums of four bytes per word -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// x86 multiplies unsigned by signed bytes and adds pairs of products to 16 bits, and likewise from 16 to 32 bits. If
// one operand is all ones, these are sums, and no pair of them saturates. A dot product of four bytes would be one
// instruction fewer, but has a longer latency through the accumulator than an addition. AArch64 adds adjacent elements
// while it widens, or multiplies by ones (AArch64/Instructions).
//
//===----------------------------------------------------------------------===//
#include "Transforms/AArch64/Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace quern {
namespace {

/// Intrinsics for a register of `bytes` bytes.
struct PairSums {
  int64_t bytes;
  CpuIsa minIsa;
  StringLiteral ofBytes, ofHalves;
};
constexpr PairSums pairSums[] = {{64, CpuIsa::Avx512, "llvm.x86.avx512.pmaddubs.w.512", "llvm.x86.avx512.pmaddw.d.512"},
                                 {32, CpuIsa::Avx2, "llvm.x86.avx2.pmadd.ub.sw", "llvm.x86.avx2.pmadd.wd"},
                                 {16, CpuIsa::Sse42, "llvm.x86.ssse3.pmadd.ub.sw.128", "llvm.x86.sse2.pmadd.wd"}};

/// acc + Σ ext(bytes) over each group of four bytes.
struct ByteSum {
  vector::MultiDimReductionOp op;
  Operation *cast, *extension;
  Value bytes, accumulator;
};

std::optional<ByteSum> matchByteSum(vector::MultiDimReductionOp op) {
  auto cast = op.getSource().getDefiningOp<vector::ShapeCastOp>();
  Operation *extension = cast ? cast.getSource().getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(extension) || op.getKind() != vector::CombiningKind::ADD)
    return std::nullopt;
  auto from = dyn_cast<VectorType>(extension->getOperand(0).getType());
  VectorType to = op.getSourceVectorType();
  bool fits = from && from.getRank() == 1 && from.getElementType().isInteger(8) && to.getElementType().isInteger(32) &&
              to.getRank() == 2 && to.getDimSize(1) == 4 && !op.isReducedDim(0) && op.isReducedDim(1);
  return fits ? std::optional(ByteSum{op, cast, extension, extension->getOperand(0), op.getAcc()}) : std::nullopt;
}

void replace(ByteSum sum, Value by) {
  sum.op.getDest().replaceAllUsesWith(by);
  for (Operation *op : {sum.op.getOperation(), sum.cast, sum.extension})
    if (op->use_empty())
      op->erase();
}

void expand(ByteSum sum, const PairSums &pairs) {
  OpBuilder b(sum.op);
  Location loc = sum.extension->getLoc();
  auto splat = [&](int64_t bits, int64_t count) -> Value {
    auto type = VectorType::get({count}, b.getIntegerType(bits));
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), 1)));
  };
  auto call = [&](StringRef name, int64_t bits, Value first, Value second) {
    Type type = VectorType::get({pairs.bytes * 8 / bits}, b.getIntegerType(bits));
    return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), ValueRange{first, second}).getResult(0);
  };
  // The first operand of the products is unsigned, the second signed.
  Value ones = splat(8, pairs.bytes);
  Value halves = isa<arith::ExtSIOp>(sum.extension) ? call(pairs.ofBytes, 16, ones, sum.bytes)
                                                    : call(pairs.ofBytes, 16, sum.bytes, ones);
  Value words = call(pairs.ofHalves, 32, halves, splat(16, pairs.bytes / 2));
  replace(sum, arith::AddIOp::create(b, loc, words, sum.accumulator));
}

void expandOnArm(ByteSum sum, const Target &target) {
  OpBuilder b(sum.op);
  if (aarch64::hasDots(target, sum.op.getSourceVectorType().getDimSize(0)))
    replace(sum, aarch64::byteSums(b, sum.extension->getLoc(), target, llvm::isa<arith::ExtSIOp>(sum.extension),
                                   sum.bytes, sum.accumulator));
}

} // namespace

void expandByteSums(func::FuncOp function, const Target &target) {
  SmallVector<vector::MultiDimReductionOp> ops;
  function.walk([&](vector::MultiDimReductionOp op) { ops.push_back(op); });
  for (vector::MultiDimReductionOp op : ops) {
    std::optional<ByteSum> sum = matchByteSum(op);
    if (!sum)
      continue;
    if (target.isAArch64()) {
      expandOnArm(*sum, target);
      continue;
    }
    int64_t bytes = cast<VectorType>(sum->bytes.getType()).getNumElements();
    const auto *pairs = llvm::find_if(
        pairSums, [&](const PairSums &known) { return known.bytes == bytes && target.has(known.minIsa); });
    if (pairs != std::end(pairSums))
      expand(*sum, *pairs);
  }
}

} // namespace quern
