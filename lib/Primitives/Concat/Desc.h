//===- Desc.h - Descriptor of a concat ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_CONCAT_DESC_H
#define QUERN_PRIMITIVES_CONCAT_DESC_H

#include "Desc/Tensor/TensorDesc.h"

#include <vector>

namespace quern {

/// Concatenates the sources along `axis`.
struct ConcatDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Concat;
  int32_t axis = 0;
  std::vector<TensorDesc> srcs;
  TensorDesc dst;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("axis", self.axis), visit("srcs", self.srcs), visit("dst", self.dst);
  }
  bool operator==(const ConcatDesc &other) const;
};

} // namespace quern

#endif // QUERN_PRIMITIVES_CONCAT_DESC_H
