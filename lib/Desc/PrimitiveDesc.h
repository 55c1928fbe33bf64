//===- PrimitiveDesc.h - A whole problem: operation, tensors, attributes --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The value that everything else is derived from. Equality, canonical bytes, key, text form and parser all derive from visitFields(),
// so that a field cannot be forgotten in one of them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_PRIMITIVEDESC_H
#define QUERN_DESC_PRIMITIVEDESC_H

#include "Desc/Attributes.h"
#include "Desc/Boxed.h"
#include "Desc/GemmDesc.h"
#include "Support/Digest.h"

#include <string>
#include <variant>

namespace quern {

// Each struct of an operation names its kind; the variant below is the list of them.

/// Softmax along `axis`. Forward uses src and dst; backward dst, diffDst and diffSrc. An unused tensor is the zero descriptor.
struct SoftmaxDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Softmax;
  PropKind prop = PropKind::Undef;
  Alg alg = Alg::SoftmaxAccurate;
  TensorDesc src, dst, diffSrc, diffDst;
  int32_t axis = 0;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("prop", self.prop), visit("alg", self.alg), visit("src", self.src), visit("dst", self.dst), visit("diff_src", self.diffSrc),
        visit("diff_dst", self.diffDst), visit("axis", self.axis);
  }
  bool operator==(const SoftmaxDesc &other) const;
};

struct ReorderDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Reorder;
  TensorDesc src, dst;
  EngineKind srcEngine = EngineKind::Cpu, dstEngine = EngineKind::Cpu;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("src", self.src), visit("dst", self.dst), visit("src_engine", self.srcEngine), visit("dst_engine", self.dstEngine);
  }
  bool operator==(const ReorderDesc &other) const;
};

/// Bits of `RnnDesc::flags`.
enum RnnFlags : uint32_t {
  RnnDiffWeightsOverwrite = 1, ///< backward writes the gradients of weights instead of adding to them
  /// Each layer of a bidirectional stack reads the states of both directions below it, left to right first, as PyTorch's modules do.
  RnnStackConcatenated = 0x10000,
};

/// All RNN cells. Dims as the specification has them: srcLayer [T, N, SLC], srcIter [L, D, N, SIC], weightsLayer [L, D, SLC, G, DHC], …
struct RnnDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Rnn;
  PropKind prop = PropKind::Undef;
  Alg cell = Alg::Undef;
  RnnDirection direction = RnnDirection::Undef;
  Alg activation = Alg::Undef; ///< vanilla RNN only
  float alpha = 0, beta = 0;   ///< of the activation
  uint32_t flags = 0;
  TensorDesc srcLayer, srcIter, srcIterC, attention;
  TensorDesc seqLengths; ///< s32 [N]: how many of the T steps each sequence has; absent: all of them
  TensorDesc weightsLayer, weightsIter, weightsPeephole, weightsProjection, bias, dstLayer, dstIter, dstIterC;
  TensorDesc diffSrcLayer, diffSrcIter, diffSrcIterC, diffAttention, diffWeightsLayer, diffWeightsIter, diffWeightsPeephole,
      diffWeightsProjection, diffBias, diffDstLayer, diffDstIter, diffDstIterC;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("prop", self.prop), visit("cell", self.cell), visit("direction", self.direction), visit("activation", self.activation),
        visit("alpha", self.alpha), visit("beta", self.beta), visit("flags", self.flags), visit("src_layer", self.srcLayer),
        visit("src_iter", self.srcIter), visit("src_iter_c", self.srcIterC), visit("attention", self.attention),
        visit("seq_lengths", self.seqLengths), visit("weights_layer", self.weightsLayer), visit("weights_iter", self.weightsIter),
        visit("weights_peephole", self.weightsPeephole), visit("weights_projection", self.weightsProjection), visit("bias", self.bias),
        visit("dst_layer", self.dstLayer), visit("dst_iter", self.dstIter), visit("dst_iter_c", self.dstIterC),
        visit("diff_src_layer", self.diffSrcLayer), visit("diff_src_iter", self.diffSrcIter), visit("diff_src_iter_c", self.diffSrcIterC),
        visit("diff_attention", self.diffAttention), visit("diff_weights_layer", self.diffWeightsLayer),
        visit("diff_weights_iter", self.diffWeightsIter), visit("diff_weights_peephole", self.diffWeightsPeephole),
        visit("diff_weights_projection", self.diffWeightsProjection), visit("diff_bias", self.diffBias),
        visit("diff_dst_layer", self.diffDstLayer), visit("diff_dst_iter", self.diffDstIter), visit("diff_dst_iter_c", self.diffDstIterC);
  }
  bool operator==(const RnnDesc &other) const;
};

/// A function of each element. Forward uses src and dst; backward diffDst, diffSrc and src, or dst for an algorithm that wants it.
struct EltwiseDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Eltwise;
  PropKind prop = PropKind::Undef;
  Alg alg = Alg::Undef;
  float alpha = 0, beta = 0;
  TensorDesc src, dst, diffSrc, diffDst;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("prop", self.prop), visit("alg", self.alg), visit("alpha", self.alpha), visit("beta", self.beta), visit("src", self.src),
        visit("dst", self.dst), visit("diff_src", self.diffSrc), visit("diff_dst", self.diffDst);
  }
  bool operator==(const EltwiseDesc &other) const;
};

/// dst = src alg src1, where a dim of 1 is broadcast. src2 is the condition of a select.
struct BinaryDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Binary;
  Alg alg = Alg::Undef;
  TensorDesc src, src1, src2, dst;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("alg", self.alg), visit("src", self.src), visit("src1", self.src1), visit("src2", self.src2), visit("dst", self.dst);
  }
  bool operator==(const BinaryDesc &other) const;
};

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

/// The sources one after the other along `axis`.
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

/// The kind of an alternative of the variant.
template <typename Op> inline constexpr PrimitiveKind kindOf = Op::kind;
template <typename Op> inline constexpr PrimitiveKind kindOf<Boxed<Op>> = Op::kind;

/// An RNN has 25 tensors, 19 KB: what is large is boxed, so that the other operations do not pay for it.
template <typename Desc> using HeldDesc = std::conditional_t<(sizeof(Desc) > 8192), Boxed<Desc>, Desc>;

template <typename, typename... Descs> struct VariantOf {
  using Type = std::variant<HeldDesc<Descs>...>;
};
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) , NAME##Desc
using OperationDesc = VariantOf<void
#include "Desc/Primitives.def"
                                >::Type;

struct PrimitiveDesc {
  OperationDesc op;
  Attributes attr;

  PrimitiveKind kind() const;
  /// Makes `op` an empty one of this kind; false where no operation has it.
  bool setKind(PrimitiveKind kind);
  bool operator==(const PrimitiveDesc &other) const;

  /// Equal descriptors, and only they, give equal bytes.
  std::string canonicalBytes() const;
  void write(ByteWriter &out) const;
  /// The inverse; checks every field, so that bytes from a file are safe.
  static Result<PrimitiveDesc> fromBytes(std::string_view bytes);

  /// The one-line text form; docs/text-form.md has the grammar. parse(text()) == *this.
  std::string text() const;
  /// On failure the message has three lines: what is wrong, the line, and a caret under the place.
  static Result<PrimitiveDesc> parse(std::string_view line);
};

} // namespace quern

#endif // QUERN_DESC_PRIMITIVEDESC_H
