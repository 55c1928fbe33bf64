//===- SeparateGates.cpp - Products of single gates, for open widths ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/SeparateGates.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

namespace {

enum WeightsDim : int { Input = 2, Gate = 3, Output = 4 };

} // namespace

SeparateGates::SeparateGates(const RnnDesc &rnn, const Shape &shape, Program &program, States &states)
    : rnn(rnn), s(shape), program(program), states(states), allRows(states.computed(states.steps() * states.batch())),
      layer(read("weights_layer", rnn.weightsLayer)), iter(read("weights_iter", rnn.weightsIter)) {}

SeparateGates::Matrix SeparateGates::read(StringRef name, const TensorDesc &desc) const {
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  const Extent panels = states.blocksOf(name, desc, Output);
  return {name.str(),
          desc,
          blocks[Output],
          blocks[Input],
          panels,
          states.blocksOf(name, desc, Input),
          states.dimOf(name, desc, Input),
          states.computed(states.expr(panels) * blocks[Output])};
}

/// Binds the weights of one gate: [I, DHC], or in panels.
Binding SeparateGates::bindMatrix(const Matrix &matrix, int64_t gate) const {
  const TensorDesc &desc = matrix.desc;
  const Extent row = states.strideOf(matrix.name, desc, Input);
  SmallVector<States::Dim, 4> dims = {{matrix.inputs, row}, {states.dhc, 1}};
  if (matrix.block > 1)
    dims = {{matrix.panels, states.strideOf(matrix.name, desc, Output)},
            {matrix.groups, row},
            {matrix.block, matrix.kPack}};
  if (matrix.kPack > 1)
    dims.push_back({matrix.kPack, 1});
  const AffineExpr elements = states.expr(states.strideOf(matrix.name, desc, Gate)) * gate + desc.offset0;
  return states.bind("weights", {matrix.name, elements * bytesOf(desc.dataType)}, desc.dataType, dims, 0);
}

Rows SeparateGates::planeOf(StringRef name, int64_t gate, Extent count, Extent pitch) {
  const AffineExpr bytes = states.expr(count) * states.expr(pitch) * bytesOf(DataType::F32);
  program.addRegion(name, bytes * s.gates);
  return {name.str(), DataType::F32, states.dhc, pitch, 1, 0, bytes * gate, count};
}

/// Emits a product with the weights of one gate. `to` is passed without the padding columns of panels, which are also
/// written.
void SeparateGates::emitProduct(Rows to, Rows x, const Matrix &matrix, int64_t gate, bool independent) {
  x.channels = matrix.inputs;
  to.channels = matrix.block > 1 ? matrix.width : states.dhc;
  program.call(
      "rnn_product", {states.bind("x", x), bindMatrix(matrix, gate), states.bind("sums", to)},
      [&](StepEmitter &step) { addSeparateProduct(step, step["sums"], step["x"], step["weights"]); }, independent);
}

void SeparateGates::emitInputs() {
  Rows x = states.inputFactorsAt(program.number(0));
  x.count = allRows;
  for (int64_t gate = 0; gate < s.gates; ++gate)
    emitProduct(planeOf("products", gate, allRows, layer.width), x, layer, gate, /*independent=*/gate > 0);
}

void SeparateGates::emitIter(const Rows &state, int64_t first, int64_t end) {
  for (int64_t gate = first; gate < end; ++gate)
    emitProduct(planeOf("sums", gate, states.sequences, iter.width), state, iter, gate, /*independent=*/gate > first);
}

void SeparateGates::bindRow(StringRef name, StringRef tensor, const TensorDesc &desc, int64_t row,
                            Bindings &bindings) const {
  if (desc.isZero())
    return;
  const AffineExpr elements = states.expr(states.strideOf(tensor, desc, 2)) * row + desc.offset0;
  bindings.push_back(states.bind((name + Twine(row)).str(), {tensor.str(), elements * bytesOf(desc.dataType)},
                                 desc.dataType, {{states.dhc, 1}}, 0));
}

void SeparateGates::bindGates(int64_t first, int64_t end, AffineExpr t, Bindings &bindings) {
  for (int64_t gate = first; gate < end; ++gate) {
    Rows x = planeOf("products", gate, allRows, layer.width);
    x.count = states.sequences;
    x.bytes = x.bytes + t * (states.batch() * states.expr(layer.width) * bytesOf(DataType::F32));
    const std::string number = std::to_string(gate);
    bindings.push_back(states.bind("x" + number, x));
    bindings.push_back(states.bind("h" + number, planeOf("sums", gate, states.sequences, iter.width)));
    bindRow("bias", "bias", rnn.bias, gate, bindings);
  }
  if (end == s.gates && s.biasGates > s.gates)
    bindRow("bias", "bias", rnn.bias, s.gates, bindings);
}

void SeparateGates::bindPeepholes(int64_t first, int64_t end, Bindings &bindings) const {
  for (int64_t row = first; row < end; ++row)
    bindRow("peephole", "weights_peephole", rnn.weightsPeephole, row, bindings);
}
