//===- Arguments.h - Execution arguments by index and name ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Argument indices (QUERN_ARG_* of quern_types.h) for the LLVM-free half and the emitters, and the arguments that
// scales, zero points and binary post-ops add to any primitive.
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

/// Property that an input and an output must share to occupy the same memory, in addition to their element positions.
enum class InPlace : uint8_t { ElementSize, Type };

/// One tensor of an execution. `index` is one of QUERN_ARG_*; `name` is its name in IR and text ("src", "scales.dst").
struct ArgumentInfo {
  int32_t index = 0;
  std::string name;
  TensorDesc desc;
  bool isOutput = false;
  bool isUpdated = false; ///< true if the output's old values are also read (post-op sum)
  /// For an input: index of the output that may use the same memory, element for element; 0: none. Any other overlap
  /// with an output is refused.
  int32_t overwrittenBy = 0;
  InPlace inPlace = InPlace::ElementSize;
  /// For scales or zero points over several masked dims, of which one after the first is open: a descriptor of the same
  /// elements with one dim per masked dim, whose sizes the kernel receives instead of the vector's length. Also set for
  /// a workspace of open size; otherwise null.
  std::shared_ptr<const TensorDesc> grid;
  /// For an input: the bytes that it must start with to belong to this problem. An execution checks them if the CPU can
  /// read the memory. Otherwise null.
  std::shared_ptr<const std::string> header;
  /// Number of bytes at the start of every header that identify the writer rather than the problem.
  static constexpr size_t headerMarkBytes = 16;

  /// Returns the number of open dims, strides and offsets, whose values a kernel receives at execution.
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
inline constexpr int32_t multipleDst = 2048; ///< result i of a function given as MLIR: multipleDst + i
inline constexpr int32_t scalesFlag = 4096, zeroPointsFlag = 8192, postOpBase = 32768;

/// Returns the argument index of source `position` of a sum or concat.
constexpr int32_t sourceAt(size_t position) { return multipleSrc + static_cast<int32_t>(position); }
/// Return the argument indices of the scales and of the zero points of an argument.
constexpr int32_t scalesOf(int32_t argument) { return argument | scalesFlag; }
constexpr int32_t zeroPointsOf(int32_t argument) { return argument | zeroPointsFlag; }
/// Returns the argument index of operand `operand` (src1 or src2) of post-op `position`.
constexpr int32_t ofPostOp(size_t position, int32_t operand) {
  return postOpBase * static_cast<int32_t>(position + 1) | operand;
}

/// Returns the name of an argument: "src", "scales.dst", "post0.src_1", "zero_points.post0.src_1".
std::string nameOf(int32_t index);

/// Returns the number of consecutive indices along a masked `dim` of a tensor of rank `rank` that share a scale or zero
/// point.
int64_t groupAlong(const QuantParams &params, int rank, int dim);

/// Returns the descriptor of scales or zero points: 1-D and dense, row-major over the masked dims of `of`; one element
/// for mask 0 or a host scalar. If there are groups, the last two dims of `of` count groups instead of indices. The dim
/// of the result is runtimeDim if a masked dim is open.
TensorDesc vectorOf(const QuantParams &params, const TensorDesc &of);

/// Like vectorOf(), but with one dim per masked dim of `of`; one dim for mask 0.
TensorDesc gridOf(const QuantParams &params, const TensorDesc &of);

/// Appends the arguments that attributes add, in this order: the scales of each of `quantized`, then the zero points;
/// for each binary post-op its src_1, src_2 (select), scales of src_1 and zero points of src_1; then the probability,
/// the seed, the offset and the mask (an output) of dropout. The attributes must be verified and have no `any` layout.
void appendAttributeArguments(const Attributes &attr, std::span<const ArgumentInfo> quantized,
                              std::vector<ArgumentInfo> &arguments);

/// Returns true for the one-element inputs of dropout: offset, probability and seed.
constexpr bool isOfDropout(int32_t index) {
  return index == dropoutOffset || index == dropoutProbability || index == dropoutSeed;
}

/// Allows `output` to use the memory of any input except scales, zero points and the inputs of dropout. For kernels
/// that read each input element only to compute the output element at the same position.
void allowInPlace(int32_t output, InPlace equal, std::vector<ArgumentInfo> &arguments);

} // namespace quern::arg

#endif // QUERN_PRIMITIVES_ARGUMENTS_H
