//===- Types.cpp - Name tables of the enumerations ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each enum with names has one table, which is used in both directions. A value without an entry is not part of the
// enum; values from outside are checked this way (isKnown() in FieldVisitor.h).
//
//===----------------------------------------------------------------------===//
#include "Desc/Types.h"

#include <iterator>

namespace quern {
namespace {

template <typename Enum> struct Named {
  Enum value;
  std::string_view name;
};

constexpr Named<DataType> dataTypeNames[] = {
    {DataType::Undef, "undef"},    {DataType::F16, "f16"},        {DataType::BF16, "bf16"},
    {DataType::F32, "f32"},        {DataType::S32, "s32"},        {DataType::S8, "s8"},
    {DataType::U8, "u8"},          {DataType::F64, "f64"},        {DataType::Boolean, "boolean"},
    {DataType::F8E5M2, "f8_e5m2"}, {DataType::F8E4M3, "f8_e4m3"}, {DataType::S4, "s4"},
    {DataType::U4, "u4"},          {DataType::E8M0, "e8m0"},      {DataType::F4E2M1, "f4_e2m1"},
    {DataType::F4E3M0, "f4_e3m0"}, {DataType::S64, "s64"},
};

constexpr Named<PrimitiveKind> primitiveKindNames[] = {
    {PrimitiveKind::Undef, "undef"},
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) {PrimitiveKind::NAME, #WORD},
#include "Desc/Primitives.def"
    {PrimitiveKind::Mlir, "mlir"},
};

constexpr Named<PropKind> propKindNames[] = {
    {PropKind::Undef, "undef"},          {PropKind::ForwardTraining, "fwd_t"}, {PropKind::ForwardInference, "fwd_i"},
    {PropKind::Backward, "bwd"},         {PropKind::BackwardData, "bwd_d"},    {PropKind::BackwardWeights, "bwd_w"},
    {PropKind::BackwardBias, "bwd_bias"}};

constexpr Named<Alg> algNames[] = {
    {Alg::Undef, "undef"},
    {Alg::EltwiseRelu, "eltwise_relu"},
    {Alg::EltwiseTanh, "eltwise_tanh"},
    {Alg::EltwiseElu, "eltwise_elu"},
    {Alg::EltwiseSquare, "eltwise_square"},
    {Alg::EltwiseAbs, "eltwise_abs"},
    {Alg::EltwiseSqrt, "eltwise_sqrt"},
    {Alg::EltwiseLinear, "eltwise_linear"},
    {Alg::EltwiseSoftRelu, "eltwise_soft_relu"},
    {Alg::EltwiseHardsigmoid, "eltwise_hardsigmoid"},
    {Alg::EltwiseLogistic, "eltwise_logistic"},
    {Alg::EltwiseExp, "eltwise_exp"},
    {Alg::EltwiseGeluTanh, "eltwise_gelu_tanh"},
    {Alg::EltwiseSwish, "eltwise_swish"},
    {Alg::EltwiseLog, "eltwise_log"},
    {Alg::EltwiseClip, "eltwise_clip"},
    {Alg::EltwiseClipV2, "eltwise_clip_v2"},
    {Alg::EltwisePow, "eltwise_pow"},
    {Alg::EltwiseGeluErf, "eltwise_gelu_erf"},
    {Alg::EltwiseRound, "eltwise_round"},
    {Alg::EltwiseMish, "eltwise_mish"},
    {Alg::EltwiseHardswish, "eltwise_hardswish"},
    {Alg::EltwiseReluDst, "eltwise_relu_use_dst_for_bwd"},
    {Alg::EltwiseTanhDst, "eltwise_tanh_use_dst_for_bwd"},
    {Alg::EltwiseEluDst, "eltwise_elu_use_dst_for_bwd"},
    {Alg::EltwiseSqrtDst, "eltwise_sqrt_use_dst_for_bwd"},
    {Alg::EltwiseLogisticDst, "eltwise_logistic_use_dst_for_bwd"},
    {Alg::EltwiseExpDst, "eltwise_exp_use_dst_for_bwd"},
    {Alg::EltwiseClipV2Dst, "eltwise_clip_v2_use_dst_for_bwd"},
    {Alg::VanillaRnn, "vanilla_rnn"},
    {Alg::VanillaLstm, "vanilla_lstm"},
    {Alg::VanillaGru, "vanilla_gru"},
    {Alg::LbrGru, "lbr_gru"},
    {Alg::VanillaAugru, "vanilla_augru"},
    {Alg::LbrAugru, "lbr_augru"},
    {Alg::BinaryAdd, "binary_add"},
    {Alg::BinaryMul, "binary_mul"},
    {Alg::BinaryMax, "binary_max"},
    {Alg::BinaryMin, "binary_min"},
    {Alg::BinaryDiv, "binary_div"},
    {Alg::BinarySub, "binary_sub"},
    {Alg::BinaryGe, "binary_ge"},
    {Alg::BinaryGt, "binary_gt"},
    {Alg::BinaryLe, "binary_le"},
    {Alg::BinaryLt, "binary_lt"},
    {Alg::BinaryEq, "binary_eq"},
    {Alg::BinaryNe, "binary_ne"},
    {Alg::BinarySelect, "binary_select"},
    {Alg::SoftmaxAccurate, "softmax_accurate"},
    {Alg::SoftmaxLog, "softmax_log"},
    {Alg::SoftmaxAccurateInfAsZero, "softmax_accurate_inf_as_zero"},
};

constexpr Named<RnnDirection> rnnDirectionNames[] = {{RnnDirection::Undef, "undef"},
                                                     {RnnDirection::Left2Right, "left2right"},
                                                     {RnnDirection::Right2Left, "right2left"},
                                                     {RnnDirection::BidirectionalConcat, "bidirectional_concat"},
                                                     {RnnDirection::BidirectionalSum, "bidirectional_sum"}};

constexpr Named<ScratchpadMode> scratchpadModeNames[] = {{ScratchpadMode::Library, "library"},
                                                         {ScratchpadMode::User, "user"}};

constexpr Named<FpmathMode> fpmathModeNames[] = {{FpmathMode::Strict, "strict"},
                                                 {FpmathMode::BF16, "bf16"},
                                                 {FpmathMode::F16, "f16"},
                                                 {FpmathMode::Any, "any"},
                                                 {FpmathMode::TF32, "tf32"}};

constexpr Named<AccumulationMode> accumulationModeNames[] = {
    {AccumulationMode::Strict, "strict"}, {AccumulationMode::Relaxed, "relaxed"}, {AccumulationMode::Any, "any"},
    {AccumulationMode::S32, "s32"},       {AccumulationMode::F32, "f32"},         {AccumulationMode::F16, "f16"}};

constexpr Named<GemmOffset> gemmOffsetNames[] = {
    {GemmOffset::None, "none"}, {GemmOffset::Fixed, "fixed"}, {GemmOffset::Column, "column"}, {GemmOffset::Row, "row"}};

constexpr Named<EngineKind> engineKindNames[] = {
    {EngineKind::Any, "any"}, {EngineKind::Cpu, "cpu"}, {EngineKind::Gpu, "gpu"}};

template <typename Enum, size_t N> constexpr std::string_view findName(const Named<Enum> (&table)[N], Enum value) {
  for (const auto &entry : table)
    if (entry.value == value)
      return entry.name;
  return "undef";
}

template <typename Enum, size_t N>
constexpr std::optional<Enum> findValue(const Named<Enum> (&table)[N], std::string_view name) {
  for (const auto &entry : table)
    if (entry.name == name)
      return entry.value;
  return std::nullopt;
}

template <typename Enum, size_t N> std::string joinNames(const Named<Enum> (&table)[N], std::string_view prefix) {
  std::string all;
  for (const auto &entry : table) {
    if (!entry.name.starts_with(prefix) || entry.name == "undef")
      continue;
    if (!all.empty())
      all += ", ";
    all += entry.name.substr(prefix.size());
  }
  return all;
}

} // namespace

#define QUERN_DEFINE_NAMES(ENUM, TABLE)                                                                                \
  template <> std::string_view nameOf<ENUM>(ENUM value) { return findName(TABLE, value); }                             \
  template <> std::optional<ENUM> fromName<ENUM>(std::string_view name) { return findValue(TABLE, name); }             \
  template <> std::string namesOf<ENUM>(std::string_view prefix) { return joinNames(TABLE, prefix); }
QUERN_DEFINE_NAMES(DataType, dataTypeNames)
QUERN_DEFINE_NAMES(PrimitiveKind, primitiveKindNames)
QUERN_DEFINE_NAMES(PropKind, propKindNames)
QUERN_DEFINE_NAMES(Alg, algNames)
QUERN_DEFINE_NAMES(RnnDirection, rnnDirectionNames)
QUERN_DEFINE_NAMES(ScratchpadMode, scratchpadModeNames)
QUERN_DEFINE_NAMES(FpmathMode, fpmathModeNames)
QUERN_DEFINE_NAMES(AccumulationMode, accumulationModeNames)
QUERN_DEFINE_NAMES(EngineKind, engineKindNames)
QUERN_DEFINE_NAMES(GemmOffset, gemmOffsetNames)
#undef QUERN_DEFINE_NAMES

int64_t bitsOf(DataType type) {
  switch (type) {
  case DataType::F64:
  case DataType::S64:
    return 64;
  case DataType::F32:
  case DataType::S32:
    return 32;
  case DataType::F16:
  case DataType::BF16:
    return 16;
  case DataType::S8:
  case DataType::U8:
  case DataType::Boolean:
  case DataType::F8E5M2:
  case DataType::F8E4M3:
  case DataType::E8M0:
    return 8;
  case DataType::S4:
  case DataType::U4:
  case DataType::F4E2M1:
  case DataType::F4E3M0:
    return 4;
  case DataType::Undef:
    break;
  }
  return 0;
}

bool isFloating(DataType type) {
  switch (type) {
  case DataType::F64:
  case DataType::F32:
  case DataType::F16:
  case DataType::BF16:
  case DataType::F8E5M2:
  case DataType::F8E4M3:
  case DataType::E8M0:
  case DataType::F4E2M1:
  case DataType::F4E3M0:
    return true;
  default:
    return false;
  }
}

} // namespace quern
