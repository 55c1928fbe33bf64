//===- Instructions.cpp - AArch64 vector instructions ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Transforms/AArch64/Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

static constexpr int64_t neonLanes = 4; ///< 32-bit lanes of a register

static Value call(OpBuilder &b, Location loc, const Twine &name, Type type, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr("llvm.aarch64." + name), operands).getResult(0);
}

bool aarch64::hasDots(const Target &target, int64_t lanes) {
  return lanes == neonLanes || (isSve(target.isa) && lanes % neonLanes == 0);
}

Value aarch64::dot(OpBuilder &b, Location loc, const Target &target, StringRef name, Value acc, Value first,
                   Value second) {
  auto sums = cast<VectorType>(acc.getType());
  const int64_t lanes = sums.getNumElements();
  if (lanes == neonLanes && target.isa != CpuIsa::Sve) // SVE machines may lack the NEON form
    return call(b, loc, "neon." + name, sums, {acc, first, second});
  auto scalable = [&](Value v) -> Value {
    auto fixed = cast<VectorType>(v.getType());
    auto type = VectorType::get({fixed.getNumElements() * neonLanes / lanes}, fixed.getElementType(), {true});
    return vector::ScalableInsertOp::create(b, loc, v, ub::PoisonOp::create(b, loc, type), 0);
  };
  Value whole = scalable(acc);
  whole = call(b, loc, "sve." + name, whole.getType(), {whole, scalable(first), scalable(second)});
  return vector::ScalableExtractOp::create(b, loc, sums, whole, 0);
}

Value aarch64::patch(OpBuilder &b, Location loc, const Target &target, StringRef name, Value acc, Value first,
                     Value second) {
  const int64_t lanes = cast<VectorType>(acc.getType()).getNumElements();
  if (lanes == neonLanes)
    return dot(b, loc, target, name, acc, first, second);
  auto type = cast<VectorType>(first.getType());
  SmallVector<int64_t> again;
  for (int64_t i = 0; i < cast<VectorType>(second.getType()).getNumElements(); ++i)
    again.push_back(i % type.getNumElements());
  return dot(b, loc, target, name, acc, vector::ShuffleOp::create(b, loc, first, first, again), second);
}

Value aarch64::byteSums(OpBuilder &b, Location loc, const Target &target, bool isSigned, Value bytes, Value acc) {
  auto type = cast<VectorType>(bytes.getType());
  if (hasSameSignDots(target)) {
    Value ones = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getI8IntegerAttr(1)));
    return dot(b, loc, target, isSigned ? "sdot" : "udot", acc, bytes, ones);
  }
  Value sums = bytes;
  for (int64_t bits : {16, 32}) {
    Type wider = VectorType::get({type.getNumElements() * 8 / bits}, b.getIntegerType(static_cast<unsigned>(bits)));
    sums = call(b, loc, isSigned ? "neon.saddlp" : "neon.uaddlp", wider, sums);
  }
  return arith::AddIOp::create(b, loc, acc, sums);
}

Value aarch64::toNearest(OpBuilder &b, Location loc, Value floats) {
  return call(b, loc, "neon.fcvtns", VectorType::get({neonLanes}, b.getI32Type()), floats);
}
