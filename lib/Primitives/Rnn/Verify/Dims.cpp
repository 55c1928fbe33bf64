//===- Dims.cpp - Ranks and dims of an RNN's tensors ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A table has the required value of each dim of each tensor. Verify.cpp lists the constraints.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Verify.h"

#include "Support/CheckedMath.h"

namespace quern::rnn {
namespace {

std::string textOfDim(int64_t dim) { return dim == runtimeDim ? "known only at execution" : std::to_string(dim); }

/// Required value of a dim, its origin for messages, and the citation of its constraint.
struct Dim {
  int64_t wanted;
  std::string source;
  const char *citation;
};

struct Wanted {
  const char *name;
  const TensorDesc &tensor;
  std::vector<Dim> dims;
};

/// Required dims of all tensors; those that a tensor defines are taken from that tensor.
class Table {
public:
  explicit Table(const RnnDesc &rnn) : rnn(rnn), s(Shape::of(rnn)) {}

  std::vector<Wanted> all() const {
    const Dim hidden{s.dhc, "DHC of weights_layer", " (rnn C16)"}, state{s.dic, dicSource(), " (rnn C17)"};
    return {
        {"weights_layer", rnn.weightsLayer, {layers(), directions(), own(s.slc), gates(s.gates), own(s.dhc)}},
        {"weights_iter", rnn.weightsIter, {layers(), directions(), own(s.sic), gates(s.gates), hidden}},
        {"weights_peephole", rnn.weightsPeephole, {layers(), directions(), gates(3), hidden}},
        {"weights_projection", rnn.weightsProjection, {layers(), directions(), hidden, own(s.dic)}},
        {"bias", rnn.bias, {layers(), directions(), gates(s.biasGates), hidden}},
        {"src_layer", rnn.srcLayer, {own(s.steps), own(s.batch), {s.slc, "SLC of weights_layer", " (rnn C14)"}}},
        {"src_iter", rnn.srcIter, {layers(), directions(), batch(), {s.sic, "SIC of weights_iter", " (rnn C15)"}}},
        {"src_iter_c", rnn.srcIterC, {layers(), directions(), batch(), hidden}},
        {"attention", rnn.attention, {steps(), batch(), {1, "one channel", " (rnn C21)"}}},
        {"seq_lengths", rnn.seqLengths, {batch()}},
        {"dst_layer",
         rnn.dstLayer,
         {steps(), batch(), {s.dlc(rnn), concat(s.dlc(rnn) == s.dic ? "" : "2 x ", dicSource()), " (rnn C18)"}}},
        {"dst_iter", rnn.dstIter, {layers(), directions(), batch(), state}},
        {"dst_iter_c", rnn.dstIterC, {layers(), directions(), batch(), hidden}},
    };
  }

private:
  Dim layers() const { return {s.layers, "L of weights_layer", " (rnn C11)"}; }
  Dim directions() const { return {s.directions, concat("direction ", nameOf(rnn.direction)), " (rnn C12)"}; }
  Dim gates(int64_t count) const { return {count, concat("the gates of cell ", nameOf(rnn.cell)), " (rnn C13)"}; }
  Dim steps() const { return {s.steps, "T of src_layer", " (rnn C19)"}; }
  Dim batch() const { return {s.batch, "N of src_layer", " (rnn C20)"}; }
  /// Returns a dim that no other tensor determines.
  static Dim own(int64_t value) { return {value, "", ""}; }
  std::string dicSource() const {
    return rnn.weightsProjection.isZero() ? "DHC of weights_layer" : "DIC of weights_projection";
  }

  const RnnDesc &rnn;
  Shape s;
};

/// Checks C10, before any dim is read.
Result<void> checkRanks(const RnnDesc &rnn) {
  for (const NamedTensor &tensor : forwardTensors(rnn)) {
    std::string_view name = tensor.name;
    int rank = name == "seq_lengths"                                               ? 1
               : name == "src_layer" || name == "dst_layer" || name == "attention" ? 3
               : name == "weights_layer" || name == "weights_iter"                 ? 5
                                                                                   : 4;
    if (!tensor.desc.isZero() && tensor.desc.ndims != rank)
      return invalidArguments(name, " is of rank ", tensor.desc.ndims, "; it must be of rank ", rank, " (rnn C10)");
  }
  return {};
}

/// Checks C48.
Result<void> checkGradients(const RnnDesc &rnn) {
  const std::vector<NamedTensor> tensors = forwardTensors(rnn);
  for (const NamedTensor &gradient : gradientTensors(rnn)) {
    const NamedTensor &tensor = tensorOfGradient(gradient.argument, tensors);
    if (gradient.desc.isZero())
      continue;
    if (gradient.desc.ndims != tensor.desc.ndims)
      return invalidArguments(gradient.name, " is of rank ", gradient.desc.ndims, " and ", tensor.name, " of rank ",
                              tensor.desc.ndims, "; they must be equal (rnn C48)");
    for (int d = 0; d < tensor.desc.ndims; ++d)
      if (gradient.desc.dims[d] != tensor.desc.dims[d])
        return invalidArguments("dim ", d, " of ", gradient.name, " is ", textOfDim(gradient.desc.dims[d]),
                                "; it must be ", textOfDim(tensor.desc.dims[d]), ", as in ", tensor.name, " (rnn C48)");
  }
  return {};
}

Error mismatch(const Wanted &wanted, size_t d) {
  const Dim &dim = wanted.dims[d];
  return invalidArguments("dim ", d, " of ", wanted.name, " is ", textOfDim(wanted.tensor.dims[d]), "; it must be ",
                          textOfDim(dim.wanted), ", ", dim.source, dim.citation);
}

/// Checks C22 to C24: states are inputs of the next layer and step.
Result<void> checkRecurrence(const RnnDesc &rnn, const Shape &s) {
  bool isConcatenated = rnn.flags & RnnStackConcatenated;
  int64_t below = isConcatenated ? s.directions * s.dic : s.dic;
  if (s.layers > 1 && s.slc != below)
    return invalidArguments("weights_layer has SLC ", s.slc, " and ", s.layers,
                            " layers; the layers above the first read ",
                            isConcatenated ? "D x DIC = " : "DIC = ", below, " channels (rnn C22)");
  if (s.steps != 0 && s.steps != 1 && s.sic != s.dic)
    return invalidArguments("weights_iter has SIC ", s.sic, " and T of src_layer is ", textOfDim(s.steps),
                            "; the steps after the first read DIC = ", s.dic, " channels (rnn C23)");
  if (isGru(rnn) && s.sic != s.dhc)
    return invalidArguments("weights_iter has SIC ", s.sic, " and DHC ", s.dhc, "; cell ", nameOf(rnn.cell),
                            " needs them to be equal (rnn C24)");
  return {};
}

/// Returns true for weights_layer or weights_iter with inner blocks; checkLayouts() checks the blocks.
bool isPackedWeights(const NamedTensor &tensor) {
  const TensorDesc &desc = tensor.desc;
  return desc.isBlockedFormat() && desc.ndims == 5 && desc.innerBlockCount > 0 && desc.offset0 != runtimeDim;
}

/// Checks C39 for open channels.
Result<void> checkOpenWidths(const RnnDesc &rnn, const Shape &s) {
  auto refuse = [](const auto &...what) {
    return unimplemented("rnn is not implemented for channels that are known only at execution ", what...,
                         " (rnn C39)");
  };
  if (s.slc != runtimeDim || s.sic != runtimeDim || s.dhc != runtimeDim)
    return refuse("unless SLC, SIC and DHC all are");
  const DataType type = rnn.srcLayer.dataType;
  if (rnn.prop != PropKind::ForwardInference || (type != DataType::F32 && type != DataType::BF16))
    return refuse("except for inference in f32 and bf16");
  if (s.layers != 1 || s.directions != 1)
    return refuse("with ", s.layers, " layers and ", s.directions, " directions; it is for one of each");
  for (const NamedTensor &tensor : {NamedTensor{"weights_projection", 0, rnn.weightsProjection, false},
                                    {"attention", 0, rnn.attention, false},
                                    {"seq_lengths", 0, rnn.seqLengths, false}})
    if (!tensor.desc.isZero())
      return refuse("with ", tensor.name);
  for (const NamedTensor &tensor : forwardTensors(rnn))
    if (const TensorDesc &desc = tensor.desc;
        !desc.isZero() && !isPackedWeights(tensor) &&
        (!desc.isPlain() || desc.strides[desc.ndims - 1] != 1 || desc.offset0 == runtimeDim))
      return refuse("unless ", tensor.name, " is plain with contiguous channels and a known offset");
  return {};
}

/// Checks C33 and C39.
Result<void> checkLimits(const RnnDesc &rnn, const Shape &s) {
  if (hasAttention(rnn) && (s.layers != 1 || rnn.direction != RnnDirection::Left2Right))
    return unimplemented("cell ", nameOf(rnn.cell), " is not implemented for ", s.layers, " layers and direction ",
                         nameOf(rnn.direction), "; it is for 1 layer and left2right (rnn C33)");
  if (s.slc == runtimeDim || s.sic == runtimeDim || s.dhc == runtimeDim)
    return checkOpenWidths(rnn, s);
  for (const NamedTensor &tensor : forwardTensors(rnn)) {
    const TensorDesc &desc = tensor.desc;
    std::string_view name = tensor.name;
    if ((name.starts_with("weights") || name == "bias") && desc.hasRuntimeDims())
      return unimplemented("rnn is not implemented for ", name,
                           " with sizes that are known only at execution (rnn C39)");
    for (int d = 0; d < desc.ndims; ++d)
      if (bool isOpenable = desc.ndims == 4 ? d == 2 : d < 2; desc.dims[d] == runtimeDim && !isOpenable)
        return unimplemented("rnn is not implemented if dim ", d, " of ", name,
                             " is known only at execution; T and N may be (rnn C39)");
  }
  return {};
}

/// Checks C45, with a generous bound of the memory per step: every gate, state and cell in 8 bytes, for both directions
/// of every layer; for backward also their gradients and the gradients of each layer's inputs.
Result<void> checkScratch(const RnnDesc &rnn, const Shape &s) {
  auto known = [](int64_t size) { return size == runtimeDim ? 1 : size; };
  CheckedInt bytes = CheckedInt(known(s.steps)) + 2;
  constexpr int64_t widestPanel = 64;
  CheckedInt channels =
      CheckedInt(known(s.dhc)) + known(s.dic) + known(s.sic) + (isBackward(rnn) ? s.slc : 0) + widestPanel;
  for (CheckedInt factor : {CheckedInt(known(s.batch)), CheckedInt(s.layers), CheckedInt(s.directions),
                            CheckedInt((s.biasGates + 4) * (isBackward(rnn) ? 2 : 1)), channels})
    bytes *= factor;
  bytes *= 8;
  if (bytes.overflowed())
    return unimplemented("states of ", known(s.steps), " steps, ", known(s.batch), " sequences and ", known(s.dhc),
                         " channels need scratch of more than ", INT64_MAX, " bytes (rnn C45)");
  return {};
}

} // namespace

Result<void> checkDims(const RnnDesc &rnn) {
  QUERN_RETURN_IF_ERROR(checkRanks(rnn));
  const Shape shape = Shape::of(rnn);
  QUERN_RETURN_IF_ERROR(checkLimits(rnn, shape));
  for (const Wanted &wanted : Table(rnn).all())
    for (size_t d = 0; d < wanted.dims.size() && !wanted.tensor.isZero(); ++d)
      if (wanted.tensor.dims[d] != wanted.dims[d].wanted)
        return mismatch(wanted, d);
  QUERN_RETURN_IF_ERROR(checkGradients(rnn));
  QUERN_RETURN_IF_ERROR(checkScratch(rnn, shape));
  return checkRecurrence(rnn, shape);
}

Result<void> checkGivenWidths(const RnnDesc &given) {
  QUERN_RETURN_IF_ERROR(checkDims(given));
  const Shape s = Shape::of(given);
  if (s.sic != s.dhc)
    return invalidArguments("weights_iter has SIC ", s.sic, " and DHC ", s.dhc,
                            "; if they are known only at execution, they must be equal");
  constexpr int64_t maxElements = int64_t(1) << 26; // all steps' products with x are in memory at once
  const CheckedInt sums = CheckedInt(s.steps) * s.batch * s.gates * s.dhc;
  if (sums.overflowed() || sums.value() > maxElements)
    return unimplemented("rnn is not implemented for T = ", s.steps, ", N = ", s.batch, " and DHC = ", s.dhc,
                         " known only at execution: ", s.gates, " gates of all steps are more than ", maxElements,
                         " elements (rnn C39)");
  return {};
}

} // namespace quern::rnn
