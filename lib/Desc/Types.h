//===- Types.h - Enumerations of descriptors ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The values are those of oneDNN 3.x if it has them, so that the C API and the drop-in can convert by casts. Each enum
// of the text form has one table of names, which is used in both directions.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_TYPES_H
#define QUERN_DESC_TYPES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quern {

// clang-format off: rows of values
enum class DataType : int32_t {
  Undef = 0, F16 = 1, BF16 = 2, F32 = 3, S32 = 4, S8 = 5, U8 = 6, F64 = 7, Boolean = 8, F8E5M2 = 9, F8E4M3 = 10,
  S4 = 11, U4 = 12, E8M0 = 13, F4E2M1 = 14, F4E3M0 = 15, S64 = 16, ///< S64: sparse indices, dropout seeds
};

enum class FormatKind : int32_t { Undef = 0, Any = 1, Blocked = 2, Sparse = 4, HostScalar = 5 };
enum class SparseEncoding : int32_t { Undef = 0, Csr = 1, Packed = 2, Coo = 3 };

/// oneDNN has functions for `Gemm` and a number, but no primitive. `Mlir` is not a primitive, but a function given as
/// MLIR.
enum class PrimitiveKind : int32_t {
  Undef = 0,
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) NAME = VALUE,
#include "Desc/Primitives.def"
  Mlir = 0x1001,
};

enum class PropKind : int32_t {
  Undef = 0, ForwardTraining = 64, ForwardInference = 96, Backward = 128, BackwardData = 160, BackwardWeights = 192,
  BackwardBias = 193,
};

enum class Alg : int32_t {
  Undef = 0,
  EltwiseRelu = 0x20, EltwiseTanh, EltwiseElu, EltwiseSquare, EltwiseAbs, EltwiseSqrt, EltwiseLinear, EltwiseSoftRelu,
  EltwiseHardsigmoid, EltwiseLogistic, EltwiseExp, EltwiseGeluTanh, EltwiseSwish, EltwiseLog, EltwiseClip,
  EltwiseClipV2, EltwisePow, EltwiseGeluErf, EltwiseRound, EltwiseMish, EltwiseHardswish,
  EltwiseReluDst = 0x100, EltwiseTanhDst, EltwiseEluDst, EltwiseSqrtDst, EltwiseLogisticDst, EltwiseExpDst,
  EltwiseClipV2Dst,
  VanillaRnn = 0x1fff, VanillaLstm = 0x2fff, VanillaGru = 0x3fff, LbrGru = 0x4fff, VanillaAugru = 0x5fff,
  LbrAugru = 0x6fff,
  BinaryAdd = 0x1fff0, BinaryMul, BinaryMax, BinaryMin, BinaryDiv, BinarySub, BinaryGe, BinaryGt, BinaryLe, BinaryLt,
  BinaryEq, BinaryNe, BinarySelect,
  SoftmaxAccurate = 0x30000, SoftmaxLog, SoftmaxAccurateInfAsZero,
};

enum class RnnDirection : int32_t {
  Undef = 0, Left2Right = 1, Right2Left = 2, BidirectionalConcat = 3, BidirectionalSum = 4,
};
// clang-format on

enum class ScratchpadMode : int32_t { Library = 0, User = 1 };
enum class FpmathMode : int32_t { Strict = 0, BF16 = 1, F16 = 2, Any = 3, TF32 = 4 };
enum class AccumulationMode : int32_t { Strict = 0, Relaxed = 1, Any = 2, S32 = 3, F32 = 4, F16 = 5 };
enum class EngineKind : int32_t { Any = 0, Cpu = 1, Gpu = 2 };
/// Offset that is added to a product of matrices: none, one value, one per row (a column vector), or one per column.
enum class GemmOffset : int32_t { None = 0, Fixed = 1, Column = 2, Row = 3 };

/// Returns the bits of one element: 4 for the packed types, 0 for Undef.
int64_t bitsOf(DataType type);
bool isFloating(DataType type);
/// Returns true if backward with this eltwise algorithm reads dst instead of src.
inline bool usesDst(Alg alg) { return alg >= Alg::EltwiseReluDst && alg <= Alg::EltwiseClipV2Dst; }
inline bool isForward(PropKind kind) { return kind == PropKind::ForwardTraining || kind == PropKind::ForwardInference; }

/// Returns the name in the text form ("f32", "softmax_log", …); "undef" for a value outside the enum.
template <typename Enum> std::string_view nameOf(Enum value);
/// Inverse of nameOf(); returns nothing for an unknown name.
template <typename Enum> std::optional<Enum> fromName(std::string_view name);
/// Returns the names that start with `prefix`, without it, separated by ", ", for messages.
template <typename Enum> std::string namesOf(std::string_view prefix = {});

#define QUERN_DECLARE_NAMES(ENUM)                                                                                      \
  template <> std::string_view nameOf<ENUM>(ENUM value);                                                               \
  template <> std::optional<ENUM> fromName<ENUM>(std::string_view name);                                               \
  template <> std::string namesOf<ENUM>(std::string_view prefix)
QUERN_DECLARE_NAMES(DataType);
QUERN_DECLARE_NAMES(PrimitiveKind);
QUERN_DECLARE_NAMES(PropKind);
QUERN_DECLARE_NAMES(Alg);
QUERN_DECLARE_NAMES(RnnDirection);
QUERN_DECLARE_NAMES(ScratchpadMode);
QUERN_DECLARE_NAMES(FpmathMode);
QUERN_DECLARE_NAMES(AccumulationMode);
QUERN_DECLARE_NAMES(EngineKind);
QUERN_DECLARE_NAMES(GemmOffset);
#undef QUERN_DECLARE_NAMES

} // namespace quern

#endif // QUERN_DESC_TYPES_H
