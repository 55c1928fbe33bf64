//===- OpenWidths.cpp - RNNs whose widths are known only at execution -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One layer in one direction, in f32 or bf16. With open widths, gates cannot be a dim of a matrix: each gate is a
// separate product with the weights in place, and the cell (Cell.h) is a step after them. The products with x are
// computed for all time steps at once. States are a region [T + 1][N][DHC]; the state at the start is slot 0 or T,
// before the first step in its direction.
//
// Weights may be packed as `any` packs them, with separate panels for each gate. Sums then include the panels' padding.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/OpenWidths.h"

#include "Primitives/Emission/Program.h"
#include "Primitives/Emission/Tensors.h"
#include "Primitives/Rnn/Emit/Epilogue.h"
#include "Primitives/Rnn/Emit/States.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

namespace {

/// A matrix [rows, channels] with contiguous channels; a vector if it has no rows.
struct Matrix {
  std::string buffer;
  DataType type;
  AffineExpr rows, channels, row; ///< each a constant or an entry of the list of sizes; `row` is a stride in elements
  AffineExpr bytes;
};

/// weights_layer or weights_iter. A panel has `block` columns; a group has `kPack` rows, 1 in plain weights.
struct OpenWeights {
  std::string name;
  const TensorDesc *desc = nullptr;
  int64_t block = 1, kPack = 1;
  AffineExpr panels, groups; ///< numbers of panels and of groups
  AffineExpr inputs;         ///< rows
  AffineExpr width;          ///< columns of all panels, padding included
};

/// Returns the type of the rows that products read: the problem's, or f32 with values that are rounded to that type.
DataType memoryTypeOf(const VerifiedProblem &problem) {
  for (const ArgumentInfo &copy : problem.intermediates)
    if (copy.index == arg::src)
      return copy.desc.dataType;
  return std::get<Boxed<RnnDesc>>(problem.desc.op)->srcLayer.dataType;
}

class OpenWidthsEmitter {
public:
  OpenWidthsEmitter(ModuleOp module, const VerifiedProblem &problem)
      : builder(module.getContext()), rnn(std::get<Boxed<RnnDesc>>(problem.desc.op)), s(Shape::of(rnn)),
        context{rnn, problem.desc.attr, s, {}, {}, {}, memoryTypeOf(problem)}, program(module, /*openSize=*/-1),
        states(problem, context, program), steps(states.steps()), batch(states.batch()),
        inputs(states.dimOf("weights_layer", rnn.weightsLayer, 2)),
        channels(states.dimOf("weights_layer", rnn.weightsLayer, 4)) {
    for (const ArgumentInfo &argument : problem.arguments)
      entries += argument.runtimeSizes();
    allRows = computed(steps * batch);
    layer = readWeights("weights_layer", rnn.weightsLayer);
    iter = readWeights("weights_iter", rnn.weightsIter);
  }
  void emit();

private:
  using Bindings = SmallVector<Binding>;
  bool hasResetFirst() const { return isGru(rnn) && !isLinearBeforeReset(rnn); }
  bool isReversed() const { return rnn.direction == RnnDirection::Right2Left; }

  /// Returns the rows of a tensor, which are its last two dims, from element `elements` on.
  Matrix tensor(StringRef name, const TensorDesc &desc, AffineExpr elements) const;
  /// Returns matrix `index` of `count` in a region; its rows are `pitch` elements apart.
  Matrix scratch(StringRef name, DataType type, AffineExpr rows, AffineExpr width, AffineExpr pitch, AffineExpr count,
                 AffineExpr index);
  Matrix planeOf(StringRef name, int64_t gate, AffineExpr rows, AffineExpr pitch) {
    return scratch(name, DataType::F32, rows, channels, pitch, program.number(s.gates), program.number(gate));
  }
  Matrix stateAt(AffineExpr slot) { return scratch("states", factor, batch, channels, channels, steps + 1, slot); }
  Matrix own(StringRef name) {
    return scratch(name, DataType::F32, batch, channels, channels, program.number(1), program.number(0));
  }
  Matrix resetState() {
    return scratch("reset", factor, batch, channels, channels, program.number(1), program.number(0));
  }
  /// Appends a value computed from sizes to the list of sizes and returns its entry.
  AffineExpr computed(AffineExpr value) {
    if (isa<AffineConstantExpr, AffineSymbolExpr>(value))
      return value;
    program.addSize(value);
    return program.size(entries++);
  }
  OpenWeights readWeights(StringRef name, const TensorDesc &desc);
  Binding bindWeights(const OpenWeights &weights, int64_t gate);
  Binding bind(StringRef name, const Matrix &matrix);

  /// Emits a product with the weights of one gate. `to` is passed without the padding columns of panels, which are also
  /// written.
  void product(Matrix to, Matrix x, const OpenWeights &weights, int64_t gate, bool independent);
  /// Copies `from`, or zeros if it is absent.
  void copy(std::optional<Matrix> from, const Matrix &to);
  void emitInputs();
  void emitStart();
  void emitStep(AffineExpr t, AffineExpr before, AffineExpr next);
  void emitFinish();
  void productsOfState(const Matrix &state, int64_t first, int64_t end);

  /// Adds the sums and biases of gates `first` to `end`.
  void addGates(Bindings &bindings, int64_t first, int64_t end, AffineExpr t);
  void addRow(Bindings &bindings, StringRef name, const TensorDesc &desc, StringRef tensor, int64_t row);
  void callCell(AffineExpr t, AffineExpr before, AffineExpr next);
  void callGru(AffineExpr t, AffineExpr before, AffineExpr next);

  Builder builder;
  const RnnDesc &rnn;
  const Shape s;
  const CellContext context;
  Program program;
  States states;
  const AffineExpr steps, batch, inputs, channels;
  const DataType factor = context.memory;
  int64_t entries = 0; ///< number of entries in the list of sizes
  AffineExpr allRows;  ///< T N
  OpenWeights layer, iter;
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Matrix OpenWidthsEmitter::tensor(StringRef name, const TensorDesc &desc, AffineExpr elements) const {
  const int rowDim = desc.ndims - 2;
  return {name.str(),
          desc.dataType,
          states.dimOf(name, desc, rowDim),
          states.dimOf(name, desc, rowDim + 1),
          states.strideOf(name, desc, rowDim),
          (elements + desc.offset0) * bytesOf(desc.dataType)};
}

Matrix OpenWidthsEmitter::scratch(StringRef name, DataType type, AffineExpr rows, AffineExpr width, AffineExpr pitch,
                                  AffineExpr count, AffineExpr index) {
  AffineExpr bytes = rows * pitch * bytesOf(type);
  program.addRegion(name, bytes * count);
  return {name.str(), type, rows, width, pitch, bytes * index};
}

OpenWeights OpenWidthsEmitter::readWeights(StringRef name, const TensorDesc &desc) {
  enum : int { Input = 2, Output = 4 };
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  OpenWeights weights{name.str(), &desc, blocks[Output], blocks[Input]};
  weights.panels = states.blocksOf(name, desc, Output);
  weights.groups = states.blocksOf(name, desc, Input);
  weights.inputs = states.dimOf(name, desc, Input);
  weights.width = computed(weights.panels * weights.block);
  return weights;
}

/// Returns a constant size; for an open one kDynamic, and appends its entry in the list of sizes to `entries`.
template <typename Entries> int64_t numberOf(AffineExpr size, Entries &entries) {
  if (auto number = dyn_cast<AffineConstantExpr>(size))
    return number.getValue();
  entries.push_back(cast<AffineSymbolExpr>(size).getPosition());
  return ShapedType::kDynamic;
}

/// Binds the weights of one gate: [I, DHC], or in panels.
Binding OpenWidthsEmitter::bindWeights(const OpenWeights &weights, int64_t gate) {
  enum : int { Input = 2, Gate = 3, Output = 4 };
  const TensorDesc &desc = *weights.desc;
  const AffineExpr elements = states.strideOf(weights.name, desc, Gate) * gate + desc.offset0;
  Binding binding{"weights", {}, {weights.name, elements * bytesOf(desc.dataType)}};
  AffineExpr row = states.strideOf(weights.name, desc, Input);
  SmallVector<int64_t> shape, strides;
  auto add = [&](AffineExpr extent, AffineExpr stride) {
    shape.push_back(numberOf(extent, binding.openDims));
    strides.push_back(numberOf(stride, binding.openStrides));
  };
  if (weights.block > 1) {
    add(weights.panels, states.strideOf(weights.name, desc, Output));
    add(weights.groups, row);
    add(states.number(weights.block), states.number(weights.kPack));
    if (weights.kPack > 1)
      add(states.number(weights.kPack), states.number(1));
  } else {
    add(weights.inputs, row);
    add(channels, states.number(1));
  }
  binding.type = MemRefType::get(shape, elementType(desc.dataType, builder),
                                 StridedLayoutAttr::get(builder.getContext(), 0, strides));
  return binding;
}

Binding OpenWidthsEmitter::bind(StringRef name, const Matrix &matrix) {
  Binding binding{name.str(), {}, {matrix.buffer, matrix.bytes}};
  SmallVector<int64_t> shape, strides;
  if (matrix.rows) {
    shape.push_back(numberOf(matrix.rows, binding.openDims));
    strides.push_back(numberOf(matrix.row, binding.openStrides));
  }
  shape.push_back(numberOf(matrix.channels, binding.openDims));
  strides.push_back(1);
  binding.type = MemRefType::get(shape, elementType(matrix.type, builder),
                                 StridedLayoutAttr::get(builder.getContext(), 0, strides));
  return binding;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void OpenWidthsEmitter::product(Matrix to, Matrix x, const OpenWeights &weights, int64_t gate, bool independent) {
  const bool hasPanels = weights.block > 1;
  x.channels = weights.inputs;
  to.channels = hasPanels ? weights.width : channels;
  program.call(
      "rnn_product", {bind("x", x), bindWeights(weights, gate), bind("sums", to)},
      [&](StepEmitter &step) {
        (hasPanels ? addPanelProduct : addPlainProduct)(step, step["sums"], step["x"], step["weights"]);
      },
      independent);
}

void OpenWidthsEmitter::copy(std::optional<Matrix> from, const Matrix &to) {
  Bindings bindings;
  if (from)
    bindings.push_back(bind("from", *from));
  bindings.push_back(bind("to", to));
  program.call(from ? "rnn_copy" : "rnn_clear", bindings, [&](StepEmitter &step) {
    Epilogue e(step, context, s.dhc);
    const Ref element = e.elementOf("from");
    e.output(step["to"]);
    e.emit([&]() -> SmallVector<Value> {
      return {converted(e.builder(), step.loc, from ? e.read(element) : e.f32(0), from ? from->type : DataType::F32,
                        to.type, step.builder.getF32Type())};
    });
  });
}

/// Emits a dense copy of src_layer and its products with the weights of every gate.
void OpenWidthsEmitter::emitInputs() {
  AffineExpr t = program.beginLoop(steps);
  copy(tensor("src_layer", rnn.srcLayer, t * states.strideOf("src_layer", rnn.srcLayer, 0)),
       scratch("inputs", factor, batch, inputs, inputs, steps, t));
  program.endLoop();
  const Matrix x{"inputs", factor, allRows, inputs, inputs, program.number(0)};
  for (int64_t g = 0; g < s.gates; ++g)
    product(planeOf("products", g, allRows, layer.width), x, layer, g, /*independent=*/g > 0);
}

void OpenWidthsEmitter::emitStart() {
  auto given = [&](StringRef name, const TensorDesc &desc) {
    return desc.isZero() ? std::nullopt : std::optional(tensor(name, desc, program.number(0)));
  };
  copy(given("src_iter", rnn.srcIter), stateAt(isReversed() ? steps : program.number(0)));
  if (isLstm(rnn))
    copy(given("src_iter_c", rnn.srcIterC), own("cells"));
}

void OpenWidthsEmitter::emitFinish() {
  AffineExpr t = program.beginLoop(steps);
  copy(stateAt(isReversed() ? t : t + 1),
       tensor("dst_layer", rnn.dstLayer, t * states.strideOf("dst_layer", rnn.dstLayer, 0)));
  program.endLoop();
  if (!rnn.dstIter.isZero())
    copy(stateAt(isReversed() ? program.number(0) : steps), tensor("dst_iter", rnn.dstIter, program.number(0)));
  if (!rnn.dstIterC.isZero())
    copy(own("cells"), tensor("dst_iter_c", rnn.dstIterC, program.number(0)));
}

void OpenWidthsEmitter::productsOfState(const Matrix &state, int64_t first, int64_t end) {
  for (int64_t g = first; g < end; ++g)
    product(planeOf("sums", g, batch, iter.width), state, iter, g, /*independent=*/g > first);
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

void OpenWidthsEmitter::addRow(Bindings &bindings, StringRef name, const TensorDesc &desc, StringRef tensorName,
                               int64_t row) {
  if (desc.isZero())
    return;
  Matrix matrix = tensor(tensorName, desc, states.strideOf(tensorName, desc, 2) * row);
  matrix.rows = {};
  bindings.push_back(bind((name + Twine(row)).str(), matrix));
}

void OpenWidthsEmitter::addGates(Bindings &bindings, int64_t first, int64_t end, AffineExpr t) {
  for (int64_t gate = first; gate < end; ++gate) {
    const std::string number = std::to_string(gate);
    Matrix x = planeOf("products", gate, allRows, layer.width);
    x.rows = batch;
    x.bytes = x.bytes + t * (batch * layer.width * bytesOf(DataType::F32));
    bindings.push_back(bind("x" + number, x));
    bindings.push_back(bind("h" + number, planeOf("sums", gate, batch, iter.width)));
    addRow(bindings, "bias", rnn.bias, "bias", gate);
  }
}

void OpenWidthsEmitter::callCell(AffineExpr t, AffineExpr before, AffineExpr next) {
  productsOfState(stateAt(before), 0, s.gates);
  Bindings bindings;
  addGates(bindings, 0, s.gates, t);
  if (isGru(rnn)) {
    addRow(bindings, "bias", rnn.bias, "bias", s.gates);
    bindings.push_back(bind("h", stateAt(before)));
  }
  for (int64_t row = 0; row < 3; ++row)
    addRow(bindings, "peephole", rnn.weightsPeephole, "weights_peephole", row);
  if (isLstm(rnn))
    for (StringRef name : {"c", "c_next"})
      bindings.push_back(bind(name, own("cells")));
  bindings.push_back(bind("h_next", stateAt(next)));
  program.call("rnn_cell", bindings, [&](StepEmitter &step) { emitCell(step, context); });
}

void OpenWidthsEmitter::callGru(AffineExpr t, AffineExpr before, AffineExpr next) {
  productsOfState(stateAt(before), 0, 2);
  Bindings gates, output;
  addGates(gates, 0, 2, t);
  for (const auto &[name, matrix] :
       {std::pair{"h", stateAt(before)}, std::pair{"update", own("update")}, std::pair{"reset", resetState()}})
    gates.push_back(bind(name, matrix));
  program.call("rnn_gates", gates, [&](StepEmitter &step) { emitGruGates(step, context); });
  productsOfState(resetState(), 2, 3);
  addGates(output, 2, 3, t);
  for (const auto &[name, matrix] :
       {std::pair{"h", stateAt(before)}, std::pair{"update", own("update")}, std::pair{"h_next", stateAt(next)}})
    output.push_back(bind(name, matrix));
  program.call("rnn_output", output, [&](StepEmitter &step) { emitGruOutput(step, context); });
}

/// Emits one time step, which reads the state in slot `before` and writes slot `next`.
void OpenWidthsEmitter::emitStep(AffineExpr t, AffineExpr before, AffineExpr next) {
  hasResetFirst() ? callGru(t, before, next) : callCell(t, before, next);
}

void OpenWidthsEmitter::emit() {
  emitInputs();
  emitStart();
  AffineExpr index = program.beginLoop(steps), t = isReversed() ? steps - 1 - index : index;
  isReversed() ? emitStep(t, t + 1, t) : emitStep(t, t, t + 1);
  program.endLoop();
  emitFinish();
  program.finish();
}

} // namespace

void rnn::emitOpenWidths(ModuleOp module, const VerifiedProblem &problem) { OpenWidthsEmitter(module, problem).emit(); }
