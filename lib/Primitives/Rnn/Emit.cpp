//===- Emit.cpp - RNN as a program of linalg steps --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A step of one layer and direction is one function, or two where the second reads all channels of what the first makes (gru, projection);
// every call of it has other buffers. For each layer in turn: the states at the start, then a loop over time in which the two directions
// run beside each other, then dst_iter. What dst_layer does not get from the last layer's steps is copied at the end.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Convert.h"
#include "Primitives/Emission/Tensors.h"
#include "Primitives/Emitters.h"
#include "Primitives/Rnn/EmitEpilogue.h"
#include "Primitives/Rnn/EmitStates.h"
#include "Primitives/Rnn/EmitWeights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cstring>
#include <utility>

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

namespace {

class RnnEmitter {
public:
  RnnEmitter(ModuleOp module, const VerifiedProblem &problem)
      : builder(module.getContext()), rnn(std::get<Boxed<RnnDesc>>(problem.desc.op)), s(Shape::of(rnn)),
        layer("weights_layer", rnn.weightsLayer, problem, module.getContext()),
        iter("weights_iter", rnn.weightsIter, problem, module.getContext()),
        projection("weights_projection", rnn.weightsProjection, problem, module.getContext()), bias("bias", rnn.bias),
        peephole("weights_peephole", rnn.weightsPeephole), context{rnn, problem.desc.attr, s, layer.view(), iter.view(), projection.view()},
        program(module, States::openBatch(problem)), states(problem, context, program) {}
  void emit();

private:
  using Bindings = SmallVector<Binding, 16>;
  /// A step of a layer and direction.
  struct At {
    int64_t layer, direction;
    AffineExpr t;
    bool isFirst;
  };
  bool isReversed(int64_t direction) const { return direction == 1 || rnn.direction == RnnDirection::Right2Left; }
  int64_t stack(int64_t layer, int64_t direction) const { return layer * s.directions + direction; }
  AffineExpr before(const At &at) const { return isReversed(at.direction) ? at.t + 1 : at.t - 1; }

  bool isProjected() const { return !rnn.weightsProjection.isZero(); }

  void emitHeader();
  void emitRemaining();
  void emitStart(int64_t layer);
  void emitSteps(int64_t layer);
  /// One step of time in every direction; `i` counts from the first.
  void emitStep(int64_t layer, AffineExpr i, bool isFirst);
  void emitFinish(int64_t layer);
  void emitStacked(int64_t layer);
  void emitResult();

  void callCell(const At &at, bool beside);
  void callProjection(const At &at, bool beside);
  void callGruGates(const At &at, bool beside);
  void callGruOutput(const At &at, bool beside);

  Bindings gateBindings(const At &at);
  void addVector(Bindings &bindings, StringRef name, const Rows &vector);
  void addPerSequence(Bindings &bindings, const At &at);
  void addKept(Bindings &bindings, const At &at);
  Binding inputOf(const At &at);
  Binding stateBefore(const At &at);
  Rows remainingAt(AffineExpr t);
  Rows cellsAt(int64_t layer, int64_t direction, AffineExpr t);
  Rows cellsStart(int64_t layer, int64_t direction);
  Rows unprojectedAt(const At &at);

  /// One elementwise op over rows. `body` gets the elements of `from`, then those of "remaining" at time `aliveAt`, if that is given.
  using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;
  void emitCopy(StringRef kind, ArrayRef<Rows> from, const Rows &to, Body body, AffineExpr aliveAt, bool beside);

  Builder builder;
  const RnnDesc &rnn;
  const Shape s;
  const Weights layer, iter, projection;
  const Vectors bias, peephole;
  const CellContext context;
  Program program;
  States states;
};

int64_t bytesOf(DataType type) { return bitsOf(type) / 8; }

//===----------------------------------------------------------------------===//
// Arguments of steps
//===----------------------------------------------------------------------===//

/// An element for each sequence, `stride` apart.
void RnnEmitter::addVector(Bindings &bindings, StringRef name, const Rows &vector) {
  Binding binding = states.bind(name, vector);
  SmallVector<int64_t> strides = {vector.openRow >= 0 ? ShapedType::kDynamic : vector.row};
  auto layout = StridedLayoutAttr::get(builder.getContext(), vector.offset, strides);
  binding.type = MemRefType::get({s.batch}, binding.type.getElementType(), layout);
  bindings.push_back(binding);
}

Rows RnnEmitter::remainingAt(AffineExpr t) {
  Rows rows = states.scratchOfSteps("remaining", DataType::S32);
  rows.bytes = t * (states.batch() * bytesOf(DataType::S32));
  return rows;
}

/// What the layer reads: src_layer, or the states below, of both directions where they are stacked.
Binding RnnEmitter::inputOf(const At &at) {
  Rows rows;
  if (at.layer == 0)
    rows = states.tensor("src_layer", rnn.srcLayer, at.t);
  else if (s.directions == 2 && (rnn.flags & RnnStackConcatenated))
    rows = states.isTraining ? states.stackedAt(at.t) : states.statesAt(at.layer - 1, at.t);
  else
    rows = states.stateAt(at.layer - 1, at.direction, at.t);
  return states.bind("x", rows);
}

Binding RnnEmitter::stateBefore(const At &at) {
  if (at.isFirst && states.startsApart(at.layer))
    return states.bind("h", states.startOf(at.layer, at.direction));
  return states.bind("h", states.stateAt(at.layer, at.direction, before(at)));
}

Rows RnnEmitter::cellsAt(int64_t layer, int64_t direction, AffineExpr t) {
  int64_t index = stack(layer, direction);
  return states.isTraining ? states.section(WorkspacePart::Cells, s.dhc, index, t) : states.scratch("cells", DataType::F32, s.dhc, index);
}

Rows RnnEmitter::cellsStart(int64_t layer, int64_t direction) {
  return states.isTraining ? states.section(WorkspacePart::InitialCells, s.dhc, stack(layer, direction)) : cellsAt(layer, direction, {});
}

/// What training keeps of a step besides the states.
void RnnEmitter::addKept(Bindings &bindings, const At &at) {
  if (!states.isTraining)
    return;
  Rows gates = states.section(WorkspacePart::Gates, s.gates * s.dhc, stack(at.layer, at.direction), at.t);
  Binding binding = states.bind("gates", gates);
  binding.type = MemRefType::get({s.batch, s.gates, s.dhc}, builder.getF32Type());
  bindings.push_back(binding);
  if (isLinearBeforeReset(rnn))
    bindings.push_back(states.bind("hidden_sums", states.section(WorkspacePart::HiddenSums, s.dhc, stack(at.layer, at.direction), at.t)));
}

Rows RnnEmitter::unprojectedAt(const At &at) {
  return states.isTraining ? states.section(WorkspacePart::Unprojected, s.dhc, stack(at.layer, at.direction), at.t)
                           : states.scratch("unprojected", context.state(), s.dhc, at.direction);
}

/// The products' operands, then what the epilogue reads.
RnnEmitter::Bindings RnnEmitter::gateBindings(const At &at) {
  Bindings bindings = {inputOf(at), stateBefore(at)};
  layer.bind("w", at.layer, at.direction, program, bindings);
  iter.bind("u", at.layer, at.direction, program, bindings);
  bindScales(context, /*isProjection=*/false, program, bindings);
  bias.bind("bias", at.layer, at.direction, program, bindings);
  return bindings;
}

void RnnEmitter::addPerSequence(Bindings &bindings, const At &at) {
  if (!rnn.attention.isZero())
    addVector(bindings, "attention", states.tensor("attention", rnn.attention, at.t));
  if (states.hasLengths)
    addVector(bindings, "remaining", remainingAt(at.t));
}

//===----------------------------------------------------------------------===//
// Steps of time
//===----------------------------------------------------------------------===//

void RnnEmitter::callCell(const At &at, bool beside) {
  Bindings bindings = gateBindings(at);
  if (isLstm(rnn)) {
    peephole.bind("peephole", at.layer, at.direction, program, bindings);
    bool isStart = at.isFirst && states.isTraining;
    bindings.push_back(states.bind("c", isStart ? cellsStart(at.layer, at.direction) : cellsAt(at.layer, at.direction, before(at))));
    bindings.push_back(states.bind("c_next", cellsAt(at.layer, at.direction, at.t)));
  }
  addPerSequence(bindings, at);
  if (isProjected())
    bindings.push_back(states.bind("unprojected", unprojectedAt(at)));
  else
    bindings.push_back(states.bind("h_next", states.stateAt(at.layer, at.direction, at.t)));
  addKept(bindings, at);
  program.call(
      "rnn_cell", bindings, [&](StepEmitter &step) { emitCell(step, context); }, beside);
}

void RnnEmitter::callProjection(const At &at, bool beside) {
  Bindings bindings = {states.bind("unprojected", unprojectedAt(at))};
  projection.bind("r", at.layer, at.direction, program, bindings);
  bindScales(context, /*isProjection=*/true, program, bindings);
  if (states.hasLengths) {
    bindings.push_back(stateBefore(at));
    addVector(bindings, "remaining", remainingAt(at.t));
  }
  bindings.push_back(states.bind("h_next", states.stateAt(at.layer, at.direction, at.t)));
  program.call(
      "rnn_projection", bindings, [&](StepEmitter &step) { emitProjection(step, context); }, beside);
}

void RnnEmitter::callGruGates(const At &at, bool beside) {
  Bindings bindings = gateBindings(at);
  bindings.push_back(states.bind("update", states.scratch("update", DataType::F32, s.dhc, at.direction)));
  bindings.push_back(states.bind("reset", states.scratch("reset", context.state(), s.dhc, at.direction)));
  addKept(bindings, at);
  program.call(
      "rnn_gates", bindings, [&](StepEmitter &step) { emitGruGates(step, context); }, beside);
}

void RnnEmitter::callGruOutput(const At &at, bool beside) {
  Bindings bindings = gateBindings(at);
  bindings.push_back(states.bind("update", states.scratch("update", DataType::F32, s.dhc, at.direction)));
  bindings.push_back(states.bind("reset", states.scratch("reset", context.state(), s.dhc, at.direction)));
  addPerSequence(bindings, at);
  bindings.push_back(states.bind("h_next", states.stateAt(at.layer, at.direction, at.t)));
  addKept(bindings, at);
  program.call(
      "rnn_output", bindings, [&](StepEmitter &step) { emitGruOutput(step, context); }, beside);
}

void RnnEmitter::emitStep(int64_t layer, AffineExpr i, bool isFirst) {
  AffineExpr steps = states.stepsDone();
  auto inEachDirection = [&](auto call) {
    for (int64_t direction = 0; direction < s.directions; ++direction)
      call({layer, direction, isReversed(direction) ? steps - 1 - i : i, isFirst}, direction > 0);
  };
  const bool hasResetFirst = isGru(rnn) && !isLinearBeforeReset(rnn);
  inEachDirection([&](const At &at, bool beside) { hasResetFirst ? callGruGates(at, beside) : callCell(at, beside); });
  if (hasResetFirst)
    inEachDirection([&](const At &at, bool beside) { callGruOutput(at, beside); });
  if (isProjected())
    inEachDirection([&](const At &at, bool beside) { callProjection(at, beside); });
}

void RnnEmitter::emitSteps(int64_t layer) {
  const bool isApart = states.startsApart(layer);
  if (isApart)
    emitStep(layer, program.number(0), /*isFirst=*/true);
  if (s.steps == 1)
    return;
  AffineExpr index = program.beginLoop(isApart ? states.stepsDone() - 1 : states.stepsDone());
  emitStep(layer, isApart ? index + 1 : index, /*isFirst=*/false);
  program.endLoop();
}

//===----------------------------------------------------------------------===//
// Before and after
//===----------------------------------------------------------------------===//

void RnnEmitter::emitCopy(StringRef kind, ArrayRef<Rows> from, const Rows &to, Body body, AffineExpr aliveAt, bool beside) {
  Bindings bindings;
  for (auto [i, rows] : llvm::enumerate(from))
    bindings.push_back(states.bind(i ? "other" : "from", rows));
  if (aliveAt)
    addVector(bindings, "remaining", remainingAt(aliveAt));
  bindings.push_back(states.bind("to", to));
  auto emitBody = [&](StepEmitter &step) {
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps(from.size(), builder.getMultiDimIdentityMap(2));
    for (const Binding &binding : ArrayRef<Binding>(bindings).drop_back())
      inputs.push_back(step[binding.name]);
    if (aliveAt)
      maps.push_back(AffineMap::get(2, 0, builder.getAffineDimExpr(0)));
    maps.push_back(builder.getMultiDimIdentityMap(2));
    SmallVector<utils::IteratorType> kinds(2, utils::IteratorType::parallel);
    linalg::GenericOp::create(step.builder, step.loc, inputs, ValueRange{step["to"]}, maps, kinds,
                              [&](OpBuilder &b, Location at, ValueRange in) { linalg::YieldOp::create(b, at, body(b, at, in)); });
  };
  program.call(kind, bindings, emitBody, beside);
}

/// What a sequence has left at each time: its length, then one less from step to step.
void RnnEmitter::emitRemaining() {
  const TensorDesc &desc = rnn.seqLengths;
  auto call = [&](StringRef kind, const Rows &from, const Rows &to, llvm::function_ref<Value(OpBuilder &, Location, Value)> body) {
    Bindings bindings;
    addVector(bindings, "from", from);
    addVector(bindings, "to", to);
    program.call(kind, bindings, [&](StepEmitter &step) {
      AffineMap maps[] = {builder.getMultiDimIdentityMap(1), builder.getMultiDimIdentityMap(1)};
      linalg::GenericOp::create(step.builder, step.loc, ValueRange{step["from"]}, ValueRange{step["to"]}, maps,
                                utils::IteratorType::parallel,
                                [&](OpBuilder &b, Location at, ValueRange in) { linalg::YieldOp::create(b, at, body(b, at, in[0])); });
    });
  };
  auto constant = [](OpBuilder &b, Location at, int32_t value) -> Value {
    return arith::ConstantOp::create(b, at, b.getI32IntegerAttr(value));
  };
  Rows lengths{"seq_lengths", DataType::S32, 1, desc.strides[0], 1, desc.offset0, -1, program.number(0)};
  call("rnn_lengths", lengths, remainingAt(program.number(0)),
       [&](OpBuilder &b, Location at, Value length) -> Value { return arith::MaxSIOp::create(b, at, length, constant(b, at, 0)); });
  if (s.steps == 1)
    return;
  AffineExpr index = program.beginLoop(states.steps() - 1);
  call("rnn_remaining", remainingAt(index), remainingAt(index + 1),
       [&](OpBuilder &b, Location at, Value left) -> Value { return arith::SubIOp::create(b, at, left, constant(b, at, 1)); });
  program.endLoop();
  if (!states.isTraining)
    program.addMaximum("seq_lengths", states.steps(), states.batch(), desc.strides[0]);
}

void RnnEmitter::emitStart(int64_t layer) {
  const bool isCell = isLstm(rnn);
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    const SmallVector<AffineExpr> at = {program.number(layer), program.number(direction)};
    bool beside = direction > 0;
    if (!states.startsInPlace(layer)) {
      Rows to = states.startOf(layer, direction);
      SmallVector<Rows, 1> from;
      if (!rnn.srcIter.isZero())
        from.push_back(states.tensor("src_iter", rnn.srcIter, at));
      emitCopy(
          "rnn_start", from, to,
          [&](OpBuilder &b, Location loc, ValueRange in) -> Value {
            if (from.empty())
              return emitStored(b, loc, context, arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0)));
            return from[0].type == to.type ? in[0] : emitStored(b, loc, context, in[0]);
          },
          {}, beside);
      beside = true;
    }
    if (!isCell)
      continue;
    SmallVector<Rows, 1> from;
    if (!rnn.srcIterC.isZero())
      from.push_back(states.tensor("src_iter_c", rnn.srcIterC, at));
    emitCopy(
        "rnn_start_cells", from, cellsStart(layer, direction),
        [&](OpBuilder &b, Location loc, ValueRange in) -> Value {
          return from.empty() ? arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0)).getResult()
                              : widened(b, loc, in[0], from[0].type, b.getF32Type());
        },
        {}, beside);
  }
}

void RnnEmitter::emitFinish(int64_t layer) {
  bool beside = false;
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    const SmallVector<AffineExpr> at = {program.number(layer), program.number(direction)};
    AffineExpr last = isReversed(direction) ? program.number(0) : states.stepsDone() - 1;
    if (!rnn.dstIter.isZero()) {
      Rows from = states.stateAt(layer, direction, last), to = states.tensor("dst_iter", rnn.dstIter, at);
      emitCopy(
          "rnn_finish", from, to,
          [&](OpBuilder &b, Location loc, ValueRange in) -> Value {
            return from.type == to.type ? in[0] : emitNumber(b, loc, context, in[0]);
          },
          {}, std::exchange(beside, true));
    }
    if (!rnn.dstIterC.isZero())
      emitCopy(
          "rnn_finish_cells", cellsAt(layer, direction, last), states.tensor("dst_iter_c", rnn.dstIterC, at),
          [&](OpBuilder &b, Location loc, ValueRange in) { return narrowed(b, loc, in[0], rnn.dstIterC.dataType); }, {},
          std::exchange(beside, true));
  }
}

/// dst_layer from the states of the last layer.
void RnnEmitter::emitResult() {
  const int64_t last = s.layers - 1;
  if (states.isResult(last))
    return;
  const bool isSum = rnn.direction == RnnDirection::BidirectionalSum;
  const DataType type = rnn.dstLayer.dataType;
  const bool isWide = isQuantized(rnn) && type == DataType::F32; // numbers, not what stands for them
  AffineExpr t = s.steps == 1 ? program.number(0) : program.beginLoop(states.steps());
  for (int64_t direction = 0; direction < (isSum ? 1 : s.directions); ++direction) {
    Rows to = states.tensor("dst_layer", rnn.dstLayer, t);
    to.channels = s.dic;
    to.bytes = to.bytes + direction * s.dic * to.channel * bytesOf(type);
    SmallVector<Rows, 2> from = {states.stateAt(last, direction, t)};
    if (isSum)
      from.push_back(states.stateAt(last, 1, t));
    auto number = [&](OpBuilder &b, Location loc, Value stored) {
      return isWide ? emitNumber(b, loc, context, stored) : widened(b, loc, stored, context.state(), b.getF32Type());
    };
    emitCopy(
        "rnn_result", from, to,
        [&](OpBuilder &b, Location loc, ValueRange in) -> Value {
          Value result = in[0];
          if (isSum)
            result = narrowed(b, loc, arith::AddFOp::create(b, loc, number(b, loc, in[0]), number(b, loc, in[1])), type);
          else if (isWide)
            result = number(b, loc, in[0]);
          if (!states.hasLengths)
            return result;
          Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
          zero = isWide ? zero : emitStored(b, loc, context, zero);
          Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
          Value isAlive = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, in[from.size()], none);
          return arith::SelectOp::create(b, loc, isAlive, result, zero);
        },
        states.hasLengths ? t : AffineExpr(), direction > 0);
  }
  if (s.steps != 1)
    program.endLoop();
}

/// Training with both directions stacked: the workspace keeps them apart, the layer above reads them side by side.
void RnnEmitter::emitStacked(int64_t layer) {
  if (!states.isTraining || s.directions == 1 || !(rnn.flags & RnnStackConcatenated) || layer + 1 == s.layers)
    return;
  AffineExpr t = s.steps == 1 ? program.number(0) : program.beginLoop(states.steps());
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    Rows to = states.stackedAt(t);
    to.channels = s.dic;
    to.bytes = to.bytes + direction * s.dic * bytesOf(to.type);
    emitCopy(
        "rnn_stack", states.stateAt(layer, direction, t), to, [](OpBuilder &, Location, ValueRange in) { return in[0]; }, {},
        direction > 0);
  }
  if (s.steps != 1)
    program.endLoop();
}

/// By which backward knows the workspace.
void RnnEmitter::emitHeader() {
  if (!states.isTraining)
    return;
  WorkspaceHeader header = workspaceHeaderOf(rnn);
  int32_t words[workspaceHeaderBytes / sizeof(int32_t)];
  std::memcpy(words, &header, sizeof(header));
  MemRefType type = MemRefType::get({std::size(words)}, builder.getI32Type());
  Binding to{"header", type, {"workspace", program.number(0)}};
  program.call("rnn_header", to, [&](StepEmitter &step) {
    auto data = DenseElementsAttr::get(RankedTensorType::get(type.getShape(), type.getElementType()), ArrayRef(words));
    emitConstants(step, step["header"], "rnn_header_words", data);
  });
}

void RnnEmitter::emit() {
  emitHeader();
  for (const Weights *weights : {&layer, &iter, &projection})
    weights->emitSteps(program);
  for (const Vectors *vectors : {&bias, &peephole})
    vectors->emitSteps(program);
  emitScales(context, program);
  if (states.hasLengths)
    emitRemaining();
  for (int64_t layer = 0; layer < s.layers; ++layer) {
    emitStart(layer);
    emitSteps(layer);
    emitFinish(layer);
    emitStacked(layer);
  }
  emitResult();
  program.finish();
}

} // namespace

void quern::emitRnn(ModuleOp module, const VerifiedProblem &problem) { RnnEmitter(module, problem).emit(); }
