//===- Shape.cpp - Sizes and kind of an RNN -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Shape.h"

namespace quern::rnn {

int64_t gatesOf(Alg cell) {
  switch (cell) {
  case Alg::VanillaRnn:
    return 1;
  case Alg::VanillaLstm:
    return 4;
  case Alg::VanillaGru:
  case Alg::LbrGru:
  case Alg::VanillaAugru:
  case Alg::LbrAugru:
    return 3;
  default:
    return 0;
  }
}

Shape Shape::of(const RnnDesc &rnn) {
  Shape shape;
  shape.steps = rnn.srcLayer.dims[0];
  shape.batch = rnn.srcLayer.dims[1];
  shape.layers = rnn.weightsLayer.dims[0];
  shape.directions = isBidirectional(rnn) ? 2 : 1;
  shape.slc = rnn.weightsLayer.dims[2];
  shape.sic = rnn.weightsIter.dims[2];
  shape.dhc = rnn.weightsLayer.dims[4];
  shape.dic = rnn.weightsProjection.isZero() ? shape.dhc : rnn.weightsProjection.dims[3];
  shape.gates = gatesOf(rnn.cell);
  shape.biasGates = shape.gates + isLinearBeforeReset(rnn);
  return shape;
}

} // namespace quern::rnn
