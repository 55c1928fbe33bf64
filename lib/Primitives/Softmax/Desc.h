//===- Desc.h - Descriptor of a softmax -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_SOFTMAX_DESC_H
#define QUERN_PRIMITIVES_SOFTMAX_DESC_H

#include "Desc/Tensor/TensorDesc.h"

#include <array>

namespace quern {

/// Softmax along `axis`. Forward uses src and dst; backward uses dst, diffDst and diffSrc. Unused tensors are zero
/// descriptors.
struct SoftmaxDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Softmax;
  static constexpr std::array<std::string_view, 2> algFamilies = {"softmax_", "softmax_"};
  PropKind prop = PropKind::Undef;
  Alg alg = Alg::SoftmaxAccurate;
  TensorDesc src, dst, diffSrc, diffDst;
  int32_t axis = 0;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("prop", self.prop), visit("alg", self.alg), visit("src", self.src), visit("dst", self.dst),
        visit("diff_src", self.diffSrc), visit("diff_dst", self.diffDst), visit("axis", self.axis);
  }
  /// Calls set(field, value) with the canonical value of each field whose exact value does not affect the kernel.
  template <typename Self, typename Set> static void makeCanonical(Self &self, Set &set) {
    set(self.prop, isForward(self.prop) ? PropKind::ForwardInference : PropKind::BackwardData);
  }
  bool operator==(const SoftmaxDesc &other) const;
};

} // namespace quern

#endif // QUERN_PRIMITIVES_SOFTMAX_DESC_H
