//===- Desc.h - Descriptor of a sum ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_SUM_DESC_H
#define QUERN_PRIMITIVES_SUM_DESC_H

#include "Desc/Tensor/TensorDesc.h"

#include <vector>

namespace quern {

/// dst = Σ scales[i] · srcs[i].
struct SumDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Sum;
  std::vector<float> scales;
  std::vector<TensorDesc> srcs;
  TensorDesc dst;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("scales", self.scales), visit("srcs", self.srcs), visit("dst", self.dst);
  }
  bool operator==(const SumDesc &other) const;
};

} // namespace quern

#endif // QUERN_PRIMITIVES_SUM_DESC_H
