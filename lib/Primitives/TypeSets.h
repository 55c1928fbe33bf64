//===- TypeSets.h - Sets of supported data types --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_TYPESETS_H
#define QUERN_PRIMITIVES_TYPESETS_H

#include "Desc/Types.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace quern {

class TypeSet {
public:
  constexpr TypeSet(std::initializer_list<DataType> list) : count(list.size()) {
    std::copy(list.begin(), list.end(), types.begin());
  }
  constexpr bool contains(DataType type) const {
    return std::find(types.begin(), types.begin() + count, type) != types.begin() + count;
  }
  /// Returns "f64, f32", in the order of construction.
  std::string names() const {
    std::string text;
    for (size_t i = 0; i < count; ++i)
      text += std::string(i ? ", " : "") + std::string(nameOf(types[i]));
    return text;
  }

private:
  std::array<DataType, 16> types{};
  size_t count;
};

/// Element types that a primitive with arithmetic can read and write.
inline constexpr TypeSet elementTypes = {DataType::F64, DataType::F32,    DataType::BF16,
                                         DataType::F16, DataType::F8E5M2, DataType::F8E4M3,
                                         DataType::S32, DataType::S8,     DataType::U8};
/// Types of scales and zero points in memory.
inline constexpr TypeSet scaleTypes = {DataType::F32, DataType::BF16, DataType::F16};
inline constexpr TypeSet scaleTypesWithPowers = {DataType::F32, DataType::BF16, DataType::F16, DataType::E8M0};
inline constexpr TypeSet zeroPointTypes = {DataType::S32, DataType::S8, DataType::U8, DataType::F32};

} // namespace quern

#endif // QUERN_PRIMITIVES_TYPESETS_H
