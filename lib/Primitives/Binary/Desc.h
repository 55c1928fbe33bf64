//===- Desc.h - Descriptor of a binary operation --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_BINARY_DESC_H
#define QUERN_PRIMITIVES_BINARY_DESC_H

#include "Desc/Tensor/TensorDesc.h"

#include <array>

namespace quern {

/// dst = src alg src1; dims of size 1 are broadcast. src2 is the condition of a select.
struct BinaryDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Binary;
  static constexpr std::array<std::string_view, 2> algFamilies = {"binary_", "binary_"};
  Alg alg = Alg::Undef;
  TensorDesc src, src1, src2, dst;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("alg", self.alg), visit("src", self.src), visit("src1", self.src1), visit("src2", self.src2),
        visit("dst", self.dst);
  }
  bool operator==(const BinaryDesc &other) const;
};

} // namespace quern

#endif // QUERN_PRIMITIVES_BINARY_DESC_H
