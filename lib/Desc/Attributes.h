//===- Attributes.h - Scales, zero points, post-ops and modes -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Modifiers of a primitive other than its tensors. A primitive applies an attribute or refuses it at creation; it never
// ignores one. Each struct lists its fields once, in visitFields(); equality (floats by their bits), canonical bytes,
// key and text form derive from that list (see FieldVisitor.h).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_ATTRIBUTES_H
#define QUERN_DESC_ATTRIBUTES_H

#include "Desc/Tensor/TensorDesc.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace quern {

/// Scales or zero points of one execution argument: the dims with separate values, and group sizes over the last two
/// dims.
struct QuantParams {
  int32_t mask = 0;
  DataType dataType = DataType::F32;
  std::vector<int64_t> groups; ///< empty, or one group size for each of the last two dims
  bool isOnHost = false;       ///< true for one value that is passed as a host scalar
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("mask", self.mask), visit("type", self.dataType), visit("groups", self.groups), visit("host", self.isOnHost);
  }
  bool operator==(const QuantParams &other) const;
};

/// One post-op. `kind` determines which fields apply; the others keep their defaults.
struct PostOp {
  /// Depthwise exists only for its getters: it has no name and no fields in text or bytes, and validate() refuses it.
  enum class Kind : int32_t { Eltwise = 0, Binary = 1, Sum = 2, Prelu = 3, Depthwise = 4 };
  Kind kind = Kind::Eltwise;
  Alg alg = Alg::Undef;                ///< eltwise, binary
  float alpha = 0, beta = 0;           ///< eltwise
  float scale = 1;                     ///< sum
  int32_t zeroPoint = 0;               ///< sum
  DataType dataType = DataType::Undef; ///< sum; Undef: type of the destination
  TensorDesc src1, src2;               ///< binary; src2 only for select
  int32_t mask = 0;                    ///< prelu
  struct {
    DataType weights = DataType::Undef, bias = DataType::Undef, dst = DataType::Undef;
    int64_t kernel = 0, stride = 0, padding = 0;
  } depthwise;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("kind", self.kind), visit("alg", self.alg), visit("alpha", self.alpha), visit("beta", self.beta),
        visit("scale", self.scale), visit("zero_point", self.zeroPoint), visit("type", self.dataType),
        visit("src1", self.src1), visit("src2", self.src2), visit("mask", self.mask);
  }
  bool operator==(const PostOp &other) const;
  /// Refuses an unknown or unimplemented kind, an algorithm of another kind, missing or invalid tensors, and values in
  /// fields that do not apply to `kind`.
  Result<void> validate() const;
};

template <> std::string_view nameOf<PostOp::Kind>(PostOp::Kind value);
template <> std::optional<PostOp::Kind> fromName<PostOp::Kind>(std::string_view name);
template <> std::string namesOf<PostOp::Kind>(std::string_view prefix);

/// Quantization of RNN data (q = scale·x + shift) and weights (one scale, or one per index of the masked dims).
struct RnnQuantization {
  float dataScale = 1, dataShift = 0;
  int32_t weightsMask = 0;
  std::vector<float> weightsScales; ///< empty: not set
  int32_t projectionMask = 0;
  std::vector<float> projectionScales;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("data_scale", self.dataScale), visit("data_shift", self.dataShift), visit("weights_mask", self.weightsMask),
        visit("weights_scales", self.weightsScales), visit("projection_mask", self.projectionMask),
        visit("projection_scales", self.projectionScales);
  }
  bool operator==(const RnnQuantization &other) const;
  /// Returns true if quantization has no effect: the given scales are 1 with any mask, and the shift is 0 or -0. Every
  /// primitive accepts this as if it were not set.
  bool isIdentity() const;
};

/// An attribute that sets elements of a result to 0 at random, with a probability that an execution passes, and scales
/// the others up.
struct Dropout {
  DataType seedType = DataType::Undef; ///< s32 or s64; undef: there is no dropout
  bool usesOffset = false;             ///< true if an execution also passes the position in the random sequence
  bool isOnHost = false;               ///< true if it passes these numbers as host scalars
  TensorDesc mask;                     ///< output of u8, 1 for each kept element; zero descriptor: not written
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("seed", self.seedType), visit("offset", self.usesOffset), visit("host", self.isOnHost),
        visit("mask", self.mask);
  }
  bool isSet() const { return seedType != DataType::Undef; }
  /// Refuses a mask that is not u8, and seeds that are neither s32 nor s64. The fields may be read in any order, so
  /// other fields may be set before the seed type; verify() refuses them without it.
  Result<void> validate() const;
};

/// Attributes of oneDNN that no primitive implements, stored for their getters. Attributes::validate() refuses all of
/// them, so they are never part of a problem, its bytes or its text.
struct UncomputedAttributes {
  /// Quantization modes other than static, by execution argument: dnnl_quantization_mode_t.
  std::map<int32_t, int32_t> quantizationModes;
  std::map<int32_t, int32_t> roundingModes; ///< modes other than `environment`: dnnl_rounding_mode_t
  std::map<int32_t, QuantParams> precomputedReductions;
};

/// Kernels that a primitive may run. `Both` starts with the family's; `Default` follows QUERN_TIERS.
enum class Tiers { Default, Both, Specialized, Family };

inline constexpr size_t maxPostOps = 32;

struct Attributes {
  ScratchpadMode scratchpadMode = ScratchpadMode::Library;
  FpmathMode fpmathMode = FpmathMode::Strict;
  bool fpmathApplyToInt = false;
  AccumulationMode accumulationMode = AccumulationMode::Strict;
  bool deterministic = false;
  std::map<int32_t, QuantParams> scales;     ///< by execution argument
  std::map<int32_t, QuantParams> zeroPoints; ///< by execution argument
  std::vector<PostOp> postOps;
  RnnQuantization rnn;
  Dropout dropout;
  bool naive = false; ///< true if parts of an MLIR function that no recipe supports may be lowered loop by loop
  std::shared_ptr<const UncomputedAttributes> uncomputed; ///< null: none
  /// Kernels that the primitive may run. The bytes, the text and the equality of a problem do not include this field.
  Tiers tiers = Tiers::Default;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("scratchpad", self.scratchpadMode), visit("fpmath", self.fpmathMode),
        visit("fpmath_int", self.fpmathApplyToInt), visit("accumulation", self.accumulationMode),
        visit("deterministic", self.deterministic), visit("scales", self.scales), visit("zero_points", self.zeroPoints),
        visit("post_ops", self.postOps), visit("rnn", self.rnn), visit("dropout", self.dropout),
        visit("naive", self.naive);
  }
  bool operator==(const Attributes &other) const;
  /// Returns a private copy of `uncomputed` that may be modified.
  UncomputedAttributes &changeUncomputed();
  /// Checks the rules that hold for every primitive, such as the ranges of masks and the number of post-ops.
  Result<void> validate() const;
};

} // namespace quern

#endif // QUERN_DESC_ATTRIBUTES_H
