//===- RandomDesc.h - Random legal descriptors ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Draws problems that validate() accepts, implemented or not: every kind of layout, extra and attribute occurs. A seed
// draws the same problems on every machine, because no distributions of the standard library are used: their results
// are unspecified.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RANDOMDESC_H
#define QUERN_TEST_RANDOMDESC_H

#include "Desc/PrimitiveDesc.h"

#include <random>

namespace quern::test {

class RandomDesc {
public:
  explicit RandomDesc(uint64_t seed) : engine(seed) {}

  PrimitiveDesc problem();
  TensorDesc tensor();
  Attributes attributes();
  float anyFloat();
  /// Returns a uniform number in [0, limit).
  uint64_t below(uint64_t limit) { return engine() % limit; }
  bool chance(int percent) { return below(100) < static_cast<uint64_t>(percent); }

private:
  TensorDesc drawTensor();
  void drawBlocks(TensorDesc &desc);
  void drawStrides(TensorDesc &desc);
  void drawExtras(TensorDesc &desc);
  std::map<int32_t, QuantParams> quantParams();
  PostOp postOp();
  DataType anyType();

  std::mt19937_64 engine;
};

} // namespace quern::test

#endif // QUERN_TEST_RANDOMDESC_H
