//===- Weights.cpp - Memory of the cells' constants -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/Weights.h"

#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Tensors.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

namespace {

constexpr int64_t floatBytes = 4;

/// Returns the place of a layer and direction in a tensor [L, D, …], `elements` further.
BufferOffset offsetOf(StringRef buffer, const TensorDesc &desc, int64_t layer, int64_t direction, Program &program,
                      int64_t elements = 0) {
  elements += layer * desc.strides[0] + direction * desc.strides[1];
  return {buffer.str(), program.number(elements * bytesOf(desc.dataType))};
}

/// Emits a copy of a tensor to another layout, whose padding is zeroed; f32 may be rounded.
void emitReorder(Program &program, StringRef kind, const Binding &from, const Binding &to, const TensorDesc &fromDesc,
                 const TensorDesc &toDesc) {
  program.call(kind, {from, to}, [&](StepEmitter &step) {
    OpBuilder &b = step.builder;
    if (toDesc.hasPadding())
      clearSums(step, step["to"], 0, 1);
    ArrayRef<int64_t> space(fromDesc.dims, static_cast<size_t>(fromDesc.ndims));
    AffineMap maps[] = {mapOf(fromDesc, space, b.getContext()), mapOf(toDesc, space, b.getContext(), Reach::Padding)};
    emitOp(step, step["from"], step["to"], maps, 0, [&](OpBuilder &inner, Location at, ValueRange in) {
      const bool isSame = fromDesc.dataType == toDesc.dataType;
      return isSame ? in[0] : roundedFactor(inner, at, in[0], toDesc.dataType);
    });
  });
}

} // namespace

Weights::Weights(StringRef tensor, const TensorDesc &given, const VerifiedProblem &problem, MLIRContext *context)
    : tensor(tensor), buffer(tensor), given(given), used(given) {
  if (given.isZero() || given.hasRuntimeDims())
    return;
  hasSums = given.dataType == DataType::S8 && problem.desc.attr.rnn.dataShift != 0;
  for (const ArgumentInfo &packed : problem.intermediates)
    if (StringRef(packed.name) == tensor)
      used = packed.desc, buffer += "_packed";
  seen = WeightsView::of(used, context);
}

Weights Weights::transposed(StringRef tensor, const TensorDesc &given, const VerifiedProblem &problem,
                            MLIRContext *context) {
  Weights weights(tensor, given, problem, context);
  if (!given.isZero())
    weights.seen = WeightsView::transposed(weights.used, given.ndims == 5 ? given.dims[3] : 1, context);
  return weights;
}

Binding Weights::bindGates(StringRef name, int64_t layer, int64_t direction, int64_t firstGate, int64_t gates,
                           Program &program) const {
  const int64_t gate = used.ndims == 5 ? firstGate * used.strides[3] : 0;
  return {name.str(), viewOf(gates).type, offsetOf(buffer, used, layer, direction, program, gate)};
}

void Weights::bindAlone(StringRef name, int64_t layer, int64_t direction, Program &program,
                        SmallVectorImpl<Binding> &bindings) const {
  bindings.push_back({name.str(), seen.type, offsetOf(buffer, used, layer, direction, program)});
}

Binding Weights::sumsAlone(StringRef name, int64_t layer, int64_t direction, Program &program) const {
  MLIRContext *context = seen.type.getContext();
  const bool isAppended = given.extras.flags != 0;
  const int output = given.ndims - 1;
  const int64_t width = isAppended ? given.paddedDims[output] : given.dims[output],
                matrix = seen.gates * width * floatBytes;
  auto type = MemRefType::get({seen.gates, seen.outputs}, Float32Type::get(context),
                              StridedLayoutAttr::get(context, 0, {width, 1}));
  int64_t start = isAppended ? given.bytes() - stacks() * matrix : 0;
  std::string place = isAppended ? tensor : tensor + "_sums";
  return {name.str(), type, {place, program.number(start + (layer * given.dims[1] + direction) * matrix)}};
}

void Weights::bind(StringRef name, int64_t layer, int64_t direction, Program &program,
                   SmallVectorImpl<Binding> &bindings) const {
  bindAlone(name, layer, direction, program, bindings);
  bindSums(name, layer, direction, program, bindings);
}

void Weights::bindSums(StringRef name, int64_t layer, int64_t direction, Program &program,
                       SmallVectorImpl<Binding> &bindings) const {
  if (hasSums)
    bindings.push_back(sumsAlone((name + "_sums").str(), layer, direction, program));
}

void Weights::emitSums(Program &program) const {
  program.addRegion(tensor + "_sums", program.number(stacks() * seen.gates * seen.outputs * floatBytes));
  MLIRContext *context = seen.type.getContext();
  WeightsView plain = WeightsView::of(given, context);
  for (int64_t i = 0; i < stacks(); ++i) {
    int64_t layer = i / given.dims[1], direction = i % given.dims[1];
    Binding weights{"weights", plain.type, offsetOf(tensor, given, layer, direction, program)};
    program.call("rnn_sums", {weights, sumsAlone("sums", layer, direction, program)}, emitColumnSums,
                 /*independent=*/i > 0);
  }
}

/// Emits the copy of the weights that cells read. Packed weights keep their layout and are copied in memory order.
void Weights::emitCopy(Program &program) const {
  MLIRContext *context = seen.type.getContext();
  TensorDesc from = given, to = used;
  if (!given.isPlain()) {
    const int64_t elements[] = {used.bytes() / bytesOf(used.dataType)};
    from = *TensorDesc::dense(elements, given.dataType); // the verifier has checked the sizes
    to = *TensorDesc::dense(elements, used.dataType);
  }
  emitReorder(program, "rnn_pack", {"from", memrefOf(from, context), {tensor, program.number(0)}},
              {"to", memrefOf(to, context, Reach::Padding), {buffer, program.number(0)}}, from, to);
}

void Weights::emitSteps(Program &program) const {
  if (given.isZero())
    return;
  if (buffer != tensor) {
    program.addRegion(buffer, program.number(used.bytes()));
    emitCopy(program);
  }
  if (hasSums && given.extras.flags == 0)
    emitSums(program);
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

namespace {

float inverseOf(float scale, float dataScale) {
  return static_cast<float>(1 / (static_cast<double>(scale) * static_cast<double>(dataScale)));
}

StringRef nameOfScales(bool isProjection) { return isProjection ? "projection_scales" : "scales"; }

bool haveMask(const RnnQuantization &q, bool isProjection) {
  return (isProjection ? q.projectionMask : q.weightsMask) != 0;
}

const std::vector<float> &scalesOf(const RnnQuantization &q, bool isProjection) {
  return isProjection ? q.projectionScales : q.weightsScales;
}

} // namespace

float rnn::commonScaleOf(const RnnQuantization &q, bool isProjection) {
  const std::vector<float> &scales = scalesOf(q, isProjection);
  return inverseOf(scales.empty() ? 1 : scales[0], q.dataScale);
}

void rnn::emitScales(const CellContext &context, Program &program) {
  const RnnQuantization &q = context.attr.rnn;
  for (bool isProjection : {false, true}) {
    if (!isQuantized(context.rnn) || !haveMask(q, isProjection))
      continue;
    std::vector<float> values;
    for (float scale : scalesOf(q, isProjection))
      values.push_back(inverseOf(scale, q.dataScale));
    auto count = static_cast<int64_t>(values.size());
    Builder builder(context.layer.type.getContext());
    program.addRegion(nameOfScales(isProjection), program.number(count * floatBytes));
    Binding to{
        "to", MemRefType::get({count}, builder.getF32Type()), {nameOfScales(isProjection).str(), program.number(0)}};
    std::string table = ("rnn_" + nameOfScales(isProjection)).str();
    program.call(table, to, [&](StepEmitter &step) {
      auto data = DenseElementsAttr::get(RankedTensorType::get({count}, builder.getF32Type()), ArrayRef(values));
      emitConstants(step, step["to"], table + "_values", data);
    });
  }
}

void rnn::bindScales(const CellContext &context, bool isProjection, Program &program,
                     SmallVectorImpl<Binding> &bindings) {
  const RnnQuantization &q = context.attr.rnn;
  if (!isQuantized(context.rnn) || !haveMask(q, isProjection))
    return;
  int64_t rows = isProjection ? 1 : context.shape.gates, columns = isProjection ? context.shape.dic : context.shape.dhc;
  auto type = MemRefType::get({rows, columns}, Float32Type::get(context.layer.type.getContext()));
  bindings.push_back({"scales", type, {nameOfScales(isProjection).str(), program.number(0)}});
}

void rnn::emitConstants(StepEmitter &step, Value to, StringRef name, DenseElementsAttr values) {
  const AffineMap identity = step.builder.getMultiDimIdentityMap(1);
  emitOp(step, constantTable(step, name, values), to, {identity, identity}, 0,
         [](OpBuilder &, Location, ValueRange in) { return in[0]; });
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Vectors::Vectors(StringRef tensor, const TensorDesc &desc) : tensor(tensor), buffer(tensor), given(desc), used(desc) {
  if (desc.isZero() || desc.strides[3] == 1)
    return;
  buffer += "_dense";
  used = *TensorDesc::dense(desc.shape(), desc.dataType); // the verifier has checked the sizes
}

void Vectors::emitSteps(Program &program) const {
  if (buffer == tensor)
    return;
  program.addRegion(buffer, program.number(used.bytes()));
  MLIRContext *context = program.number(0).getContext();
  emitReorder(program, "rnn_gather", {"from", memrefOf(given, context), {tensor, program.number(0)}},
              {"to", memrefOf(used, context), {buffer, program.number(0)}}, given, used);
}

void Vectors::bind(StringRef name, int64_t layer, int64_t direction, Program &program,
                   SmallVectorImpl<Binding> &bindings) const {
  if (given.isZero())
    return;
  Builder builder(program.number(0).getContext());
  auto layout = StridedLayoutAttr::get(builder.getContext(), used.offset0, {used.strides[2], used.strides[3]});
  MemRefType type = MemRefType::get({used.dims[2], used.dims[3]}, elementType(used.dataType, builder), layout);
  bindings.push_back({name.str(), type, offsetOf(buffer, used, layer, direction, program)});
}
