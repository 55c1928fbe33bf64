//===- Cells.cpp - Coverage goals of RNNs ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Rnn/Cells.h"

#include "Primitives/Rnn/Shape.h"

namespace quern::cases::rnn {
namespace {

std::vector<Cell> allOfARound(Pass pass) {
  std::vector<Cell> cells;
  for (Kind kind : allKinds)
    for (RnnDirection direction : allDirections)
      for (DataType type : typesOf(pass))
        if (exists(kind, direction, type))
          cells.push_back({kind, direction, type, 0, LayoutFamily::Plain});
  return cells;
}

const std::vector<Cell> &round(Pass pass) {
  static const std::vector<Cell> cells[] = {allOfARound(Pass::Forward), allOfARound(Pass::Backward)};
  return cells[static_cast<size_t>(pass)];
}

} // namespace

std::span<const DataType> typesOf(Pass pass) {
  return std::span(allTypes).first(pass == Pass::Forward ? std::size(allTypes) : 3);
}

std::span<const Feature> featuresOf(Pass pass) {
  static constexpr Feature ofForward[] = {
      Feature::Training, Feature::Stack,       Feature::StackConcatenated, Feature::Lengths, Feature::LongSequence,
      Feature::OneStep,  Feature::Unquantized, Feature::MixedTypes,        Feature::Fpmath,  Feature::Scratchpad};
  static constexpr Feature ofBackward[] = {Feature::Stack,           Feature::StackConcatenated, Feature::Lengths,
                                           Feature::LongSequence,    Feature::OneStep,           Feature::MixedTypes,
                                           Feature::Fpmath,          Feature::Scratchpad,        Feature::Overwrite,
                                           Feature::AbsentGradients, Feature::NoStateGradients};
  return pass == Pass::Forward ? std::span<const Feature>(ofForward) : std::span<const Feature>(ofBackward);
}

std::string_view nameOf(Kind kind) {
  constexpr std::string_view names[] = {"rnn", "lstm",    "lstm+peephole", "lstm+projection", "lstm+both",
                                        "gru", "lbr_gru", "augru",         "lbr_augru"};
  return names[static_cast<size_t>(kind)];
}

std::string_view nameOf(LayoutFamily family) {
  constexpr std::string_view names[] = {"plain", "any", "transposed", "gapped", "mixed", "packed", "runtime"};
  return names[static_cast<size_t>(family)];
}

std::string_view nameOf(Feature feature) {
  constexpr std::string_view names[] = {"training",  "stack",       "stack of both",   "lengths", "T>100",
                                        "T=1",       "f32 results", "mixed types",     "fpmath",  "scratchpad",
                                        "overwrite", "some absent", "no diff_dst_iter"};
  return names[static_cast<size_t>(feature)];
}

std::string optionsText(int options) {
  std::string text;
  for (const auto &[bit, name] :
       {std::pair{HasSrcIter, "src_iter"}, std::pair{HasBias, "bias"}, std::pair{HasDstIter, "dst_iter"}})
    if (options & bit)
      text += (text.empty() ? "" : "+") + std::string(name);
  return text.empty() ? "none" : text;
}

bool exists(Kind kind, RnnDirection direction, DataType type) {
  return !hasAttention(kind) || (direction == RnnDirection::Left2Right && !isQuantized(type));
}

std::vector<Feature> featuresOf(const PrimitiveDesc &desc) {
  const RnnDesc &rnn = std::get<Boxed<RnnDesc>>(desc.op);
  std::vector<Feature> features;
  auto add = [&](bool isThere, Feature feature) {
    if (isThere)
      features.push_back(feature);
  };
  const DataType src = rnn.srcLayer.dataType;
  bool isStack = rnn.weightsLayer.dims[0] > 1;
  add(rnn.prop == PropKind::ForwardTraining, Feature::Training);
  add(isStack, Feature::Stack);
  add(isStack && rnn.flags & RnnStackConcatenated, Feature::StackConcatenated);
  add(!rnn.seqLengths.isZero(), Feature::Lengths);
  add(rnn.srcLayer.dims[0] > 100, Feature::LongSequence);
  add(rnn.srcLayer.dims[0] == 1, Feature::OneStep);
  add(isQuantized(src) && rnn.dstLayer.dataType == DataType::F32, Feature::Unquantized);
  add(!isQuantized(src) && src != DataType::F32 &&
          (rnn.bias.dataType == DataType::F32 || rnn.srcIterC.dataType == DataType::F32),
      Feature::MixedTypes);
  add(desc.attr.fpmathMode != FpmathMode::Strict, Feature::Fpmath);
  add(desc.attr.scratchpadMode == ScratchpadMode::User, Feature::Scratchpad);
  if (rnn.prop != PropKind::Backward)
    return features;
  add((rnn.flags & RnnDiffWeightsOverwrite) != 0, Feature::Overwrite);
  add(rnn.diffSrcLayer.isZero() || rnn.diffWeightsLayer.isZero() || rnn.diffWeightsIter.isZero(),
      Feature::AbsentGradients);
  add(!rnn.dstIter.isZero() && rnn.diffDstIter.isZero(), Feature::NoStateGradients);
  return features;
}

int64_t cellsOfARound(Pass pass) { return static_cast<int64_t>(round(pass).size()); }

Cell cellOf(Pass pass, int64_t number) {
  constexpr int64_t step = 59; // a few consecutive cells have all kinds, directions and types
  const int64_t count = cellsOfARound(pass), index = number % count * step % count,
                rotation = number / count % roundsOfAll;
  Cell cell = round(pass)[static_cast<size_t>(index)];
  cell.options = static_cast<int>((rotation + index) % optionSets);
  // The number of families is coprime to the number of option sets, so rotating both reaches all pairs.
  cell.family = allFamilies[static_cast<size_t>(rotation + index / 3) % std::size(allFamilies)];
  return cell;
}

} // namespace quern::cases::rnn
