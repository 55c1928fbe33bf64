//===- Arguments.h - Execution arguments by index and name ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The indices of quern_types.h for the LLVM-free half and the emitters, and what every primitive with attributes
// shares: the arguments that scales, zero points and binary post-ops add.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_ARGUMENTS_H
#define QUERN_PRIMITIVES_ARGUMENTS_H

#include "Desc/PrimitiveDesc.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quern {

/// What must be equal, apart from the places of all elements, where an output lies on an input.
enum class InPlace : uint8_t { ElementSize, Type };

/// One tensor of an execution: its argument index (QUERN_ARG_*), name in IR and text ("src", "scales.dst"),
/// descriptor and direction.
struct ArgumentInfo {
  int32_t index = 0;
  std::string name;
  TensorDesc desc;
  bool isOutput = false;
  bool isUpdated = false; ///< an output whose old values are read, too (post-op sum)
  /// Of an input: the output that may lie on it, element for element; 0: none. Whatever else an output
  /// shares bytes with is refused.
  int32_t overwrittenBy = 0;
  InPlace inPlace = InPlace::ElementSize;
  /// Of a vector of scales or zero points along several dims, where a dim behind the first is open: the vector with
  /// these dims, whose sizes a kernel takes in place of the vector's. Likewise of a workspace of open size. Else null.
  std::shared_ptr<const TensorDesc> grid;
  /// Of an input: the bytes that it begins with if it is of this problem, which an execution checks where the CPU can
  /// read them. Else null.
  std::shared_ptr<const std::string> header;
  /// Bytes at the beginning of every header that say who wrote it, not for which problem.
  static constexpr size_t headerMarkBytes = 16;

  /// What a kernel takes of it: dims, strides and offset that are open.
  int64_t runtimeSizes() const { return (grid ? *grid : desc).runtimeSizes(); }
};

} // namespace quern

namespace quern::arg {

inline constexpr int32_t src = 1, src1 = 2, src2 = 3, dst = 17, diffSrc = 129, diffDst = 145;
inline constexpr int32_t attention = 4, dst1 = 18, dst2 = 19, weights = 33, weights1 = 34, weights2 = 35, weights3 = 36,
                         bias = 41;
inline constexpr int32_t diffSrc1 = 130, diffSrc2 = 131, diffAttention = 132, diffDst1 = 146, diffDst2 = 147,
                         diffWeights = 161, diffWeights1 = 162, diffWeights2 = 163, diffWeights3 = 164, diffBias = 169;
inline constexpr int32_t workspace = 64, scratchpad = 80, seqLengths = 96;
inline constexpr int32_t gemmAlpha = 97, gemmBeta = 98, gemmSrcOffset = 99, gemmWeightsOffset = 100,
                         gemmDstOffset = 101;
inline constexpr int32_t dropoutOffset = 507, dropoutMask = 509, dropoutProbability = 510, dropoutSeed = 511;
inline constexpr int32_t multipleSrc = 1024; ///< source i of a sum or concat: multipleSrc + i
inline constexpr int32_t multipleDst = 2048; ///< what a caller's function returns: multipleDst + i
inline constexpr int32_t scalesFlag = 4096, zeroPointsFlag = 8192, postOpBase = 32768;

/// Source `position` of a sum or concat.
constexpr int32_t sourceAt(size_t position) { return multipleSrc + static_cast<int32_t>(position); }
/// The vectors of scales and of zero points of an argument.
constexpr int32_t scalesOf(int32_t argument) { return argument | scalesFlag; }
constexpr int32_t zeroPointsOf(int32_t argument) { return argument | zeroPointsFlag; }
/// Operand `operand` (src1 or src2) of post-op `position`.
constexpr int32_t ofPostOp(size_t position, int32_t operand) {
  return postOpBase * static_cast<int32_t>(position + 1) | operand;
}

/// "src", "scales.dst", "post0.src_1", "zero_points.post0.src_1".
std::string nameOf(int32_t index);

/// How many neighbours along a masked `dim` of a tensor of that rank share a scale or zero point.
int64_t groupAlong(const QuantParams &params, int rank, int dim);

/// The tensor of scales or zero points: dense, 1-D, row-major over the masked dims of `of`, of which the last
/// two count groups if there are any; one element for mask 0, or a host scalar. Its dim is known only at
/// execution if one of those is.
TensorDesc vectorOf(const QuantParams &params, const TensorDesc &of);

/// The same elements with the masked dims of `of`, row-major; one dim for mask 0.
TensorDesc gridOf(const QuantParams &params, const TensorDesc &of);

/// Appends the inputs that attributes add, in this order: scales of each of `quantized` that has them, zero
/// points likewise; for each binary post-op its src_1, its src_2 (select), the scales of src_1, the zero points
/// of src_1; then of dropout the probability, the seed, the offset and, an output, the mask. The attributes are
/// verified and have no `any` left.
void appendAttributeArguments(const Attributes &attr, std::span<const ArgumentInfo> quantized,
                              std::vector<ArgumentInfo> &arguments);

/// Whether it is an input that dropout adds, one number each.
constexpr bool isOfDropout(int32_t index) {
  return index == dropoutOffset || index == dropoutProbability || index == dropoutSeed;
}

/// For kernels that read every tensor where they write: `output` may lie on any input but scales, zero points
/// and what dropout is given.
void allowInPlace(int32_t output, InPlace equal, std::vector<ArgumentInfo> &arguments);

} // namespace quern::arg

#endif // QUERN_PRIMITIVES_ARGUMENTS_H
