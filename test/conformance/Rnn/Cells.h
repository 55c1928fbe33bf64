//===- Cells.h - Coverage goals of RNNs -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cell is a kind of RNN, a direction, a type, a set of optional arguments and a family of layouts. Cells are ordered
// so that every prefix is balanced: each round has each kind with each direction and type once, with other options and
// another family. The first round therefore reaches every pair of properties, and a run of all cells the product.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_RNN_CELLS_H
#define QUERN_CONFORMANCE_RNN_CELLS_H

#include "Desc/PrimitiveDesc.h"

#include <compare>
#include <span>
#include <vector>

namespace quern::cases::rnn {

/// Two sets of cells, each with its own order.
enum class Pass { Forward, Backward };

enum class Kind { Vanilla, Lstm, LstmPeephole, LstmProjection, LstmBoth, Gru, LbrGru, Augru, LbrAugru };
inline constexpr Kind allKinds[] = {Kind::Vanilla,        Kind::Lstm,     Kind::LstmPeephole,
                                    Kind::LstmProjection, Kind::LstmBoth, Kind::Gru,
                                    Kind::LbrGru,         Kind::Augru,    Kind::LbrAugru};
inline constexpr RnnDirection allDirections[] = {RnnDirection::Left2Right, RnnDirection::Right2Left,
                                                 RnnDirection::BidirectionalConcat, RnnDirection::BidirectionalSum};
/// Types of src_layer; backward has the first three.
inline constexpr DataType allTypes[] = {DataType::F32, DataType::BF16, DataType::F16, DataType::U8, DataType::S8};
std::span<const DataType> typesOf(Pass pass);

/// Bits of Cell::options: the optional arguments that are present.
enum Options { HasSrcIter = 1, HasBias = 2, HasDstIter = 4 };
inline constexpr int optionSets = 8;

enum class LayoutFamily {
  Plain,      ///< tnc, ldnc, ldigo
  Any,        ///< every layout is `any`
  Transposed, ///< ntc, ldgoi, ldoi
  Gapped,     ///< like Plain, with gaps and offsets
  Mixed,      ///< any order of dims and gaps, separately for each tensor
  Packed,     ///< the weights have the packed layout that `any` selects
  Runtime,    ///< open T and N
};
inline constexpr LayoutFamily allFamilies[] = {LayoutFamily::Plain,  LayoutFamily::Any,   LayoutFamily::Transposed,
                                               LayoutFamily::Gapped, LayoutFamily::Mixed, LayoutFamily::Packed,
                                               LayoutFamily::Runtime};

struct Cell {
  Kind kind = Kind::Vanilla;
  RnnDirection direction = RnnDirection::Left2Right;
  DataType type = DataType::F32;
  int options = 0;
  LayoutFamily family = LayoutFamily::Plain;
  auto operator<=>(const Cell &) const = default;
};

/// Other properties of a problem, counted separately.
enum class Feature {
  Training,
  Stack,
  StackConcatenated,
  Lengths,
  LongSequence,
  OneStep,
  Unquantized,
  MixedTypes,
  Fpmath,
  Scratchpad,
  Overwrite,
  AbsentGradients,
  NoStateGradients
};
std::span<const Feature> featuresOf(Pass pass);

std::string_view nameOf(Kind kind);
std::string_view nameOf(LayoutFamily family);
std::string_view nameOf(Feature feature);
std::string optionsText(int options);

inline bool hasAttention(Kind kind) { return kind == Kind::Augru || kind == Kind::LbrAugru; }
inline bool isLstm(Kind kind) { return kind >= Kind::Lstm && kind <= Kind::LstmBoth; }
inline bool isQuantized(DataType type) { return type == DataType::U8 || type == DataType::S8; }
/// Returns true if such an RNN exists.
bool exists(Kind kind, RnnDirection direction, DataType type);
/// Returns the features of a problem whose sizes are known.
std::vector<Feature> featuresOf(const PrimitiveDesc &desc);

/// Returns cell `number`; the cells repeat.
Cell cellOf(Pass pass, int64_t number);
/// Number of kinds x directions x types that exist.
int64_t cellsOfARound(Pass pass);
/// Number of rounds that reach every cell.
inline constexpr int64_t roundsOfAll = optionSets * static_cast<int64_t>(std::size(allFamilies));

} // namespace quern::cases::rnn

#endif // QUERN_CONFORMANCE_RNN_CELLS_H
