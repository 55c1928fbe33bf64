//===- Desc.h - Descriptor of an eltwise operation ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_ELTWISE_DESC_H
#define QUERN_PRIMITIVES_ELTWISE_DESC_H

#include "Desc/Tensor/TensorDesc.h"

#include <array>

namespace quern {

/// Applies a function to each element. Forward uses src and dst; backward uses diffDst, diffSrc and src (dst for the
/// algorithms of usesDst()).
struct EltwiseDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Eltwise;
  static constexpr std::array<std::string_view, 2> algFamilies = {"eltwise_", "eltwise_"};
  PropKind prop = PropKind::Undef;
  Alg alg = Alg::Undef;
  float alpha = 0, beta = 0;
  TensorDesc src, dst, diffSrc, diffDst;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("prop", self.prop), visit("alg", self.alg), visit("alpha", self.alpha), visit("beta", self.beta),
        visit("src", self.src), visit("dst", self.dst), visit("diff_src", self.diffSrc),
        visit("diff_dst", self.diffDst);
  }
  /// Calls set(field, value) with the canonical value of each field whose exact value does not affect the kernel.
  template <typename Self, typename Set> static void makeCanonical(Self &self, Set &set) {
    set(self.prop, isForward(self.prop) ? PropKind::ForwardInference : PropKind::BackwardData);
  }
  bool operator==(const EltwiseDesc &other) const;
};

} // namespace quern

#endif // QUERN_PRIMITIVES_ELTWISE_DESC_H
