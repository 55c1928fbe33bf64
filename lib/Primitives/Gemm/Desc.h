//===- Desc.h - The product of two matrices -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What dnnl_sgemm() and its relatives compute, with everything that such a call brings as an argument of the execution,
// so that one kernel serves every call.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_GEMM_DESC_H
#define QUERN_PRIMITIVES_GEMM_DESC_H

#include "Desc/Tensor/TensorDesc.h"

namespace quern {

/// dst = alpha · (src - a) · (weights - b) + beta · dst + c, of src [M, K], weights [K, N] and dst [M, N]. A
/// transposed matrix has its strides the other way round. Which of alpha, beta, a, b and c there are is part of the
/// problem, their values are not.
struct GemmDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Gemm;
  TensorDesc src, weights, dst;
  bool alpha = false, beta = false;        ///< one f32 each
  bool offsets = false;                    ///< a and b, one value of the type of their matrix each
  GemmOffset dstOffset = GemmOffset::None; ///< c, of s32
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("src", self.src), visit("weights", self.weights), visit("dst", self.dst), visit("alpha", self.alpha),
        visit("beta", self.beta), visit("offsets", self.offsets), visit("dst_offset", self.dstOffset);
  }
  bool operator==(const GemmDesc &other) const;
};

} // namespace quern

#endif // QUERN_PRIMITIVES_GEMM_DESC_H
