//===- Access.cpp - Memory as one work-item accesses it ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Device/Access.h"

#include "Schedule/Build/Bodies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace quern;

static Type elementOf(Value memref) { return cast<MemRefType>(memref.getType()).getElementType(); }

bool quern::isDeviceVector(Type element, int64_t count) {
  const int64_t bytes = bytesOf(element) * count;
  const int64_t parts = bytes / std::max(deviceWordBytes, bytesOf(element));
  return count > 1 && bytes % deviceWordBytes == 0 && llvm::is_contained({1, 2, 4, 8, 16}, parts);
}

int64_t quern::deviceAlignment(Type element) { return std::max(deviceWordBytes, bytesOf(element)); }

Value quern::areWordAligned(OpBuilder &b, Location loc, ArrayRef<Value> memrefs, ArrayRef<Value> bytes) {
  Value bits;
  auto add = [&](Value more) { bits = bits ? arith::OrIOp::create(b, loc, bits, more).getResult() : more; };
  for (Value memref : memrefs)
    if (bytesOf(elementOf(memref)) < deviceWordBytes)
      add(memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref));
  llvm::for_each(bytes, add);
  if (!bits)
    return Value();
  bits = arith::AndIOp::create(b, loc, bits, arith::ConstantIndexOp::create(b, loc, deviceWordBytes - 1));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bits, arith::ConstantIndexOp::create(b, loc, 0));
}

SmallVector<Value> quern::loadVector(OpBuilder &b, Location loc, Value memref, Value at, int64_t count) {
  const Type element = elementOf(memref);
  const int64_t bits = element.getIntOrFloatBitWidth(), perWord = std::max<int64_t>(1, 8 * deviceWordBytes / bits);
  Value vector = vector::LoadOp::create(b, loc, VectorType::get(count, element), memref, ValueRange{at},
                                        /*nontemporal=*/false, llvm::MaybeAlign(deviceAlignment(element)));
  SmallVector<Value> elements;
  if (perWord == 1) {
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(vector::ExtractOp::create(b, loc, vector, i));
    return elements;
  }
  const Type own = b.getIntegerType(bits), word = b.getI32Type();
  if (own != element)
    vector = arith::BitcastOp::create(b, loc, VectorType::get(count, own), vector);
  vector = vector::BitCastOp::create(b, loc, VectorType::get(count / perWord, word), vector);
  for (int64_t i = 0; i < count; ++i) {
    Value part = vector::ExtractOp::create(b, loc, vector, i / perWord);
    if (i % perWord)
      part = arith::ShRUIOp::create(b, loc, part, arith::ConstantIntOp::create(b, loc, word, i % perWord * bits));
    part = arith::TruncIOp::create(b, loc, own, part);
    elements.push_back(own == element ? part : arith::BitcastOp::create(b, loc, element, part).getResult());
  }
  return elements;
}

void quern::storeVector(OpBuilder &b, Location loc, ArrayRef<Value> elements, Value memref, Value at) {
  const Type element = elementOf(memref);
  const auto count = static_cast<int64_t>(elements.size());
  const int64_t bits = element.getIntOrFloatBitWidth(), perWord = std::max<int64_t>(1, 8 * deviceWordBytes / bits);
  SmallVector<Value> words(elements);
  Value vector;
  if (perWord > 1) {
    const Type own = b.getIntegerType(bits), word = b.getI32Type();
    words.assign(count / perWord, Value());
    for (auto [i, part] : llvm::enumerate(elements)) {
      Value bitsOfPart = own == element ? part : arith::BitcastOp::create(b, loc, own, part).getResult();
      bitsOfPart = arith::ExtUIOp::create(b, loc, word, bitsOfPart);
      const int64_t place = static_cast<int64_t>(i) % perWord;
      Value &whole = words[static_cast<int64_t>(i) / perWord];
      if (place)
        bitsOfPart =
            arith::ShLIOp::create(b, loc, bitsOfPart, arith::ConstantIntOp::create(b, loc, word, place * bits));
      whole = whole ? arith::OrIOp::create(b, loc, whole, bitsOfPart).getResult() : bitsOfPart;
    }
    vector = vector::FromElementsOp::create(b, loc, VectorType::get(count / perWord, word), words);
    vector = vector::BitCastOp::create(b, loc, VectorType::get(count, own), vector);
    if (own != element)
      vector = arith::BitcastOp::create(b, loc, VectorType::get(count, element), vector);
  } else {
    vector = vector::FromElementsOp::create(b, loc, VectorType::get(count, element), words);
  }
  vector::StoreOp::create(b, loc, vector, memref, ValueRange{at}, /*nontemporal=*/false,
                          llvm::MaybeAlign(deviceAlignment(element)));
}
