//===- Desc.h - Descriptor of a product of two matrices -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The operation of dnnl_sgemm() and its relatives. All values that a call passes are arguments of the execution, so one
// kernel serves every call.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_GEMM_DESC_H
#define QUERN_PRIMITIVES_GEMM_DESC_H

#include "Desc/Tensor/TensorDesc.h"

namespace quern {

/// dst = alpha · (src - a) · (weights - b) + beta · dst + c, with src [M, K], weights [K, N] and dst [M, N]. A
/// transposed matrix has swapped strides. The problem specifies which of alpha, beta, a, b and c are present, not their
/// values.
struct GemmDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Gemm;
  TensorDesc src, weights, dst;
  bool alpha = false, beta = false;        ///< true if present, as one f32 each
  bool offsets = false;                    ///< true if a and b are present, one value each, of the type of their matrix
  GemmOffset dstOffset = GemmOffset::None; ///< shape of c, whose elements are s32
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("src", self.src), visit("weights", self.weights), visit("dst", self.dst), visit("alpha", self.alpha),
        visit("beta", self.beta), visit("offsets", self.offsets), visit("dst_offset", self.dstOffset);
  }
  bool operator==(const GemmDesc &other) const;
};

} // namespace quern

#endif // QUERN_PRIMITIVES_GEMM_DESC_H
