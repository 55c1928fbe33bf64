//===- MatrixInstructions.cpp - Matrix registers of x86 -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Uses LLVM's intrinsics with numbered registers, which it neither allocates nor spills nor configures: the code
// generator needs no pass for them. The intrinsics whose values are matrices require constant numbers of rows and
// several passes.
//
//===----------------------------------------------------------------------===//
#include "Transforms/X86/MatrixInstructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace quern::matrices {
namespace {

void call(OpBuilder &b, Location loc, StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr(("llvm.x86." + name).str()), operands);
}

Value number(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(static_cast<int8_t>(value)));
}

Value pointerTo(OpBuilder &b, Location loc, MatrixPlace place) {
  auto type = cast<MemRefType>(place.memref.getType());
  auto nsw = arith::IntegerOverflowFlags::nsw;
  Value bytes = arith::ConstantIndexOp::create(b, loc, type.getElementTypeBitWidth() / 8);
  Value at = place.at;
  if (auto [strides, start] = type.getStridesAndOffset(); start != 0) // the pointer is that of the whole buffer
    at = arith::AddIOp::create(b, loc, at, memref::ExtractStridedMetadataOp::create(b, loc, place.memref).getOffset(),
                               nsw);
  Value offset = arith::MulIOp::create(b, loc, at, bytes, nsw);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, place.memref);
  Value address = arith::IndexCastOp::create(b, loc, b.getI64Type(), arith::AddIOp::create(b, loc, base, offset));
  return LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
}

} // namespace

Value configuration(OpBuilder &b, Location loc, Value height, int64_t count) {
  constexpr int64_t palette = 0, firstWidth = 16, firstHeight = 48; // offsets in bytes; a width has 16 bits
  SmallVector<int8_t> bytes(configurationBytes, 0);
  SmallVector<bool> isOpen(configurationBytes, false);
  bytes[palette] = 1;
  for (int64_t i = 0; i < registers; ++i) {
    bytes[firstWidth + 2 * i] = rowBytes;
    bytes[firstHeight + i] = rows;
    isOpen[firstHeight + i] = i < count;
  }
  auto type = VectorType::get({configurationBytes}, b.getI8Type());
  Value known = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(bytes)));
  Value mask = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type.clone(b.getI1Type()), ArrayRef(isOpen)));
  return arith::SelectOp::create(b, loc, mask, vector::BroadcastOp::create(b, loc, type, height), known);
}

void configure(OpBuilder &b, Location loc, MatrixPlace from) { call(b, loc, "ldtilecfg", {pointerTo(b, loc, from)}); }

void release(OpBuilder &b, Location loc) { call(b, loc, "tilerelease", {}); }

void clear(OpBuilder &b, Location loc, int64_t matrix) { call(b, loc, "tilezero", {number(b, loc, matrix)}); }

void load(OpBuilder &b, Location loc, int64_t matrix, MatrixPlace from, Value stride) {
  Value strideI64 = arith::IndexCastOp::create(b, loc, b.getI64Type(), stride);
  call(b, loc, "tileloadd64", {number(b, loc, matrix), pointerTo(b, loc, from), strideI64});
}

void store(OpBuilder &b, Location loc, int64_t matrix, MatrixPlace to, Value stride) {
  Value strideI64 = arith::IndexCastOp::create(b, loc, b.getI64Type(), stride);
  call(b, loc, "tilestored64", {number(b, loc, matrix), pointerTo(b, loc, to), strideI64});
}

void multiply(OpBuilder &b, Location loc, Elements elements, int64_t sums, int64_t lhs, int64_t rhs) {
  constexpr StringLiteral names[] = {"tdpbf16ps", "tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud"};
  call(b, loc, names[static_cast<size_t>(elements)], {number(b, loc, sums), number(b, loc, lhs), number(b, loc, rhs)});
}

} // namespace quern::matrices
