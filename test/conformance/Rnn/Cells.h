//===- Cells.h - What an RNN has to reach ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cell is a kind of RNN, a direction, a type, a choice of optional arguments and a family of layouts. The cells
// stand in an order in which every prefix is balanced: each round has each kind with each direction and type
// once, with other options and another family. So the first round has every pair of two properties, and a run of
// all cells has the product.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_RNN_CELLS_H
#define QUERN_CONFORMANCE_RNN_CELLS_H

#include "Desc/PrimitiveDesc.h"

#include <compare>
#include <span>
#include <vector>

namespace quern::cases::rnn {

/// Two sets of cells, each with an order of its own.
enum class Pass { Forward, Backward };

enum class Kind { Vanilla, Lstm, LstmPeephole, LstmProjection, LstmBoth, Gru, LbrGru, Augru, LbrAugru };
inline constexpr Kind allKinds[] = {Kind::Vanilla,        Kind::Lstm,     Kind::LstmPeephole,
                                    Kind::LstmProjection, Kind::LstmBoth, Kind::Gru,
                                    Kind::LbrGru,         Kind::Augru,    Kind::LbrAugru};
inline constexpr RnnDirection allDirections[] = {RnnDirection::Left2Right, RnnDirection::Right2Left,
                                                 RnnDirection::BidirectionalConcat, RnnDirection::BidirectionalSum};
/// Of src_layer: backward has the first three.
inline constexpr DataType allTypes[] = {DataType::F32, DataType::BF16, DataType::F16, DataType::U8, DataType::S8};
std::span<const DataType> typesOf(Pass pass);

/// Bits of Cell::options: which of the optional arguments there are.
enum Options { HasSrcIter = 1, HasBias = 2, HasDstIter = 4 };
inline constexpr int optionSets = 8;

enum class LayoutFamily {
  Plain,      ///< tnc, ldnc, ldigo
  Any,        ///< every layout left to the library
  Transposed, ///< ntc, ldgoi, ldoi
  Gapped,     ///< as plain, with gaps and offsets
  Mixed,      ///< any order of dims and gaps, each tensor its own
  Packed,     ///< weights as `any` packs them, given
  Runtime,    ///< T and N given at execution
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

/// What else a problem may have, counted on its own.
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
/// Whether there is such an RNN.
bool exists(Kind kind, RnnDirection direction, DataType type);
/// The features of a problem whose sizes are known.
std::vector<Feature> featuresOf(const PrimitiveDesc &desc);

/// Cell `number`, over and over.
Cell cellOf(Pass pass, int64_t number);
/// Kinds x directions x types that exist.
int64_t cellsOfARound(Pass pass);
/// Rounds after which every cell has been there.
inline constexpr int64_t roundsOfAll = optionSets * static_cast<int64_t>(std::size(allFamilies));

} // namespace quern::cases::rnn

#endif // QUERN_CONFORMANCE_RNN_CELLS_H
