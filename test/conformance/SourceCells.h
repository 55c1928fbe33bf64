//===- SourceCells.h - What is counted of sums and concats ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The number of a case gives its cell: type of the first source, type of dst, layouts, and how many sources. A first
// round has every combination of the first three and every number of sources with each of them; as many rounds as
// there are numbers have all.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SOURCECELLS_H
#define QUERN_CONFORMANCE_SOURCECELLS_H

#include "Layouts.h"

#include <iosfwd>
#include <map>
#include <span>
#include <string>

namespace quern {

enum class SourceFamily {
  Plain,     ///< dense row-major
  Permuted,  ///< dense, in another order of the dims each
  Gapped,    ///< with gaps and offsets
  Submemory, ///< parts of larger tensors, blocked or not
  Blocked,   ///< the same inner blocks on all sides; of a concat, each source begins with a block
  Nested,    ///< inner blocks of several dims, or two of one
  Padded,    ///< blocks that do not divide
  Mixed,     ///< anything with anything
  Cut,       ///< a concat whose sources begin within blocks of dst
  Broadcast, ///< sources repeat along some dim
  Chosen,    ///< dst is `any` or absent
  Runtime,   ///< sizes, strides or offsets that are given at execution
};

struct SourceCell {
  DataType from = DataType::F32, to = DataType::F32;
  SourceFamily family = SourceFamily::Plain;
  int count = 0; ///< which of the ranges of sourceCounts
  auto operator<=>(const SourceCell &) const = default;
};

inline constexpr DataType sourceTypes[] = {DataType::F64,    DataType::F32,    DataType::BF16, DataType::F16,
                                           DataType::F8E5M2, DataType::F8E4M3, DataType::E8M0, DataType::S32,
                                           DataType::S8,     DataType::U8};

struct CountRange {
  int64_t least, most;
};
inline constexpr CountRange sourceCounts[] = {{1, 1}, {2, 2}, {3, 6}, {7, 16}, {17, 40}};

std::string_view nameOf(SourceFamily family);

/// The families of one primitive, and their cells.
class SourceCells {
public:
  explicit SourceCells(std::span<const SourceFamily> families) : families(families) {}
  int64_t firstRound() const {
    return static_cast<int64_t>(std::size(sourceTypes) * std::size(sourceTypes) * families.size());
  }
  int64_t allRounds() const { return firstRound() * static_cast<int64_t>(std::size(sourceCounts)); }
  SourceCell at(int64_t number) const;

  void count(int64_t number, bool isEmpty);
  void print(std::ostream &os) const;
  std::vector<std::string> missing(int64_t cases) const;

private:
  std::span<const SourceFamily> families;
  std::map<SourceCell, int64_t> counts;
  int64_t empty = 0;
};

/// The number of sources and their types: the first has the cell's, most others too.
std::vector<DataType> drawTypes(Random &random, const SourceCell &cell);
/// Small dims of rank 1 to 6, of so many elements or a few more.
Dims drawSourceShape(Random &random, int64_t elements);
/// One tensor of a family that is the same for sources and destination.
TensorDesc drawSourceLayout(Random &random, SourceFamily family, const Dims &dims, DataType type);

} // namespace quern

#endif // QUERN_CONFORMANCE_SOURCECELLS_H
