//===- TensorDesc.h - Shape, type and layout of a tensor ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A plain struct with the byte layout of oneDNN 3.x's memory descriptor (768 bytes), so that a blob and a drop-in are a
// copy. Only the first `ndims` entries of each array mean anything; the rest are zeros. Element (i_0, …) lies at
//   offset0 + Σ_d (i_d / B_d)·strides[d] + inner offset, in elements,
// B_d the product of the inner blocks of dim d (semantics: the specification's memory-format page).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_TENSOR_TENSORDESC_H
#define QUERN_DESC_TENSOR_TENSORDESC_H

#include "Desc/Types.h"
#include "Support/Bytes.h"
#include "Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace quern {

inline constexpr int maxDims = 12;
/// The most tensors of a list, the sources of a sum or concat: their arguments are a range of this size, and
/// input asks for no more memory.
inline constexpr size_t maxSources = 1024;
/// A dim, stride or offset that is given only at execution.
inline constexpr int64_t runtimeDim = INT64_MIN;

/// Flags of `TensorExtras::flags`.
enum ExtraFlags : uint64_t {
  ExtraS8S8 = 1,
  ExtraScaleAdjust = 2,
  ExtraRnnU8S8 = 4,
  ExtraAsymmetricSource = 8,
  ExtraRnnS8S8 = 16
};

struct TensorExtras {
  uint64_t flags = 0;
  int32_t compensationMask = 0;
  float scaleAdjust = 0;
  int32_t asymmetricCompensationMask = 0;
  char reserved[108] = {};
};

struct TensorDesc {
  int32_t ndims = 0;
  int32_t pad0 = 0;
  int64_t dims[maxDims] = {};
  DataType dataType = DataType::Undef;
  int32_t pad1 = 0;
  int64_t paddedDims[maxDims] = {};
  int64_t paddedOffsets[maxDims] = {};
  int64_t offset0 = 0; ///< in elements
  FormatKind formatKind = FormatKind::Undef;
  int32_t pad2 = 0;
  int64_t strides[maxDims] = {}; ///< in elements, of the outer (block) indices
  int32_t innerBlockCount = 0;
  int32_t pad3 = 0;
  int64_t innerBlocks[maxDims] = {};  ///< sizes, outermost first
  int64_t innerIndices[maxDims] = {}; ///< the dim that each inner block splits
  char pad4[24] = {};
  TensorExtras extras;

  // Construction. Each checks everything (negative dims, overflow of int64, repeated letters, rank over
  // 12) and names what is wrong.
  static Result<TensorDesc> fromStrides(std::span<const int64_t> dims, DataType type, std::span<const int64_t> strides);
  /// Dense row-major.
  static Result<TensorDesc> dense(std::span<const int64_t> dims, DataType type);
  static Result<TensorDesc> hostScalar(DataType type);
  /// By the letters of a tag ("abcd", "aBcd16b", "ABcd4b16a4b"), an alias ("nchw"), or "any".
  static Result<TensorDesc> fromTag(std::span<const int64_t> dims, DataType type, std::string_view tag);

  /// Everything that must hold of a descriptor that comes from outside (a blob, the text form).
  Result<void> validate() const;
  /// The same shape, order of dims and blocking without gaps, offset or extras: what `any`
  /// beside this tensor resolves to.
  Result<TensorDesc> denseLike(DataType type) const;

  bool isZero() const { return ndims == 0; } ///< the absent tensor
  bool isAny() const { return formatKind == FormatKind::Any; }
  bool isBlockedFormat() const { return formatKind == FormatKind::Blocked; }
  /// One value on the host, a scale or zero point; not a tensor of a primitive, so validate() refuses it.
  bool isHostScalar() const { return formatKind == FormatKind::HostScalar; }
  /// What it has instead of strides: SparseTensor.h. Not computed on, so validate() refuses it.
  bool isSparse() const { return formatKind == FormatKind::Sparse; }
  bool isPlain() const { return isBlockedFormat() && innerBlockCount == 0; }
  bool hasRuntimeDims() const; ///< of dims, strides or offset0
  /// Of its dims, strides, offset0 and numbers of blocks along a dim, how many are given at execution only.
  int64_t runtimeSizes() const;
  bool hasZeroDim() const;   ///< no element: every primitive on it is a no-op
  bool hasPadding() const;   ///< some paddedDims[d] != dims[d]
  bool hasBroadcast() const; ///< some stride 0 over a dim > 1
  std::span<const int64_t> shape() const { return {dims, static_cast<size_t>(ndims)}; }
  std::span<const int64_t> outerStrides() const { return {strides, static_cast<size_t>(ndims)}; }
  /// Product of the inner blocks of each dim (1: not blocked).
  void blockSizes(int64_t (&blocks)[maxDims]) const;
  int64_t elements() const;       ///< product of dims; runtimeDim if not known
  int64_t paddedElements() const; ///< product of paddedDims
  /// Bytes of a buffer: padding, gaps (the last row's included, as oneDNN counts), offset0 and appended compensation; 0
  /// for a zero or `any` descriptor or a zero dim; runtimeDim if not known. Of a sparse tensor those of its values.
  int64_t bytes() const;
  /// Offset in elements of the element with these logical indices.
  int64_t offsetOf(std::span<const int64_t> index) const;
  bool sameShape(const TensorDesc &other) const;
  /// Same layout but for the element type and what is appended.
  bool samePlaces(const TensorDesc &other) const;
  /// Same places, in row-major order of the elements: strides of single elements and blocks do not matter, nor, of
  /// plain layouts, how the elements are divided into dims. What is appended is not looked at.
  bool sameStorage(const TensorDesc &other) const;
  /// Same layout but for the element type.
  bool sameLayout(const TensorDesc &other) const;
  /// The tag that gives this layout ("abcd", "aBcd16b"), empty when none does.
  std::string tag() const;

  Result<TensorDesc> submemory(std::span<const int64_t> subDims, std::span<const int64_t> offsets) const;
  Result<TensorDesc> reshape(std::span<const int64_t> newDims) const;
  /// out.dims[permutation[d]] = dims[d].
  Result<TensorDesc> permuteAxes(std::span<const int> permutation) const;

  /// Floats of the extras compare by their bits.
  bool operator==(const TensorDesc &other) const;

  /// Canonical bytes: equal descriptors and only they give equal bytes; read back by `read`, which validates.
  void write(ByteWriter &out) const;
  static Result<TensorDesc> read(ByteReader &in);
};

static_assert(offsetof(TensorDesc, dims) == 8 && offsetof(TensorDesc, dataType) == 104 &&
              offsetof(TensorDesc, paddedDims) == 112);
static_assert(offsetof(TensorDesc, paddedOffsets) == 208 && offsetof(TensorDesc, offset0) == 304);
static_assert(offsetof(TensorDesc, formatKind) == 312);
static_assert(offsetof(TensorDesc, strides) == 320 && offsetof(TensorDesc, innerBlockCount) == 416);
static_assert(offsetof(TensorDesc, innerBlocks) == 424 && offsetof(TensorDesc, innerIndices) == 520 &&
              offsetof(TensorDesc, extras) == 640);
static_assert(offsetof(TensorExtras, compensationMask) == 8 && offsetof(TensorExtras, scaleAdjust) == 12);
static_assert(offsetof(TensorExtras, asymmetricCompensationMask) == 16 && sizeof(TensorDesc) == 768);

} // namespace quern

#endif // QUERN_DESC_TENSOR_TENSORDESC_H
