//===- TensorDesc.h - Shape, type and layout of a tensor ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A plain struct with the byte layout of oneDNN 3.x's memory descriptor (768 bytes), so that blobs and the drop-in can
// copy it. Only the first `ndims` entries of each array are used; the rest are zeros. Element (i_0, …) is at
//   offset0 + Σ_d (i_d / B_d)·strides[d] + inner offset,
// in elements, where B_d is the product of the inner blocks of dim d (see the specification's memory-format page).
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
/// Maximum number of tensors in a list, such as the sources of a sum or concat. Their argument indices are a range of
/// this size, and it bounds the memory that input can allocate.
inline constexpr size_t maxSources = 1024;
/// Value of a dim, stride or offset that is known only at execution.
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

  // Construction. Each function checks everything (negative dims, overflow of int64, repeated letters, rank over 12)
  // and names the invalid value.
  static Result<TensorDesc> fromStrides(std::span<const int64_t> dims, DataType type, std::span<const int64_t> strides);
  /// Creates a dense row-major descriptor.
  static Result<TensorDesc> dense(std::span<const int64_t> dims, DataType type);
  static Result<TensorDesc> hostScalar(DataType type);
  /// Creates a descriptor from a tag: letters ("abcd", "aBcd16b", "ABcd4b16a4b"), an alias ("nchw"), or "any".
  static Result<TensorDesc> fromTag(std::span<const int64_t> dims, DataType type, std::string_view tag);

  /// Checks everything that a descriptor from outside (a blob, the text form) must satisfy.
  Result<void> validate() const;
  /// Returns the same shape, order of dims and blocking without gaps, offset or extras: the layout that `any` resolves
  /// to if it follows this tensor.
  Result<TensorDesc> denseLike(DataType type) const;

  bool isZero() const { return ndims == 0; } ///< the absent tensor
  bool isAny() const { return formatKind == FormatKind::Any; }
  bool isBlockedFormat() const { return formatKind == FormatKind::Blocked; }
  /// Returns true for one value on the host, a scale or zero point. It is not a tensor of a primitive, so validate()
  /// refuses it.
  bool isHostScalar() const { return formatKind == FormatKind::HostScalar; }
  /// Returns true if the tensor has a SparseLayout (SparseTensor.h) instead of strides. No primitive supports such a
  /// tensor, so validate() refuses it.
  bool isSparse() const { return formatKind == FormatKind::Sparse; }
  bool isPlain() const { return isBlockedFormat() && innerBlockCount == 0; }
  bool hasRuntimeDims() const; ///< true if a dim, a stride or offset0 is known only at execution
  /// Returns the number of values known only at execution: dims, strides, offset0 and numbers of blocks along a dim.
  int64_t runtimeSizes() const;
  bool hasZeroDim() const;   ///< true if the tensor has no elements
  bool hasPadding() const;   ///< true if paddedDims differs from dims
  bool hasBroadcast() const; ///< true if a dim that is open or greater than 1 has stride 0
  std::span<const int64_t> shape() const { return {dims, static_cast<size_t>(ndims)}; }
  std::span<const int64_t> outerStrides() const { return {strides, static_cast<size_t>(ndims)}; }
  /// Computes the product of the inner blocks of each dim (1: not blocked).
  void blockSizes(int64_t (&blocks)[maxDims]) const;
  int64_t elements() const;       ///< product of dims; runtimeDim if not known
  int64_t paddedElements() const; ///< product of paddedDims
  /// Returns the bytes of a buffer, including padding, gaps (the last row's included, as in oneDNN), offset0 and
  /// appended compensation. 0 for a zero or `any` descriptor or a zero dim; runtimeDim if unknown. For a sparse tensor,
  /// the bytes of its values.
  int64_t bytes() const;
  /// Returns the offset, in elements, of the element with these logical indices.
  int64_t offsetOf(std::span<const int64_t> index) const;
  bool sameShape(const TensorDesc &other) const;
  /// Compares the layouts without the element types and the appended compensation.
  bool samePlaces(const TensorDesc &other) const;
  /// Returns true if elements with equal row-major positions have equal offsets. Ignores strides of dims with one
  /// element or block, appended compensation and, for plain layouts, the division of the elements into dims.
  bool sameStorage(const TensorDesc &other) const;
  /// Compares the layouts without the element types.
  bool sameLayout(const TensorDesc &other) const;
  /// Returns the tag of this layout ("abcd", "aBcd16b"); empty if none describes it.
  std::string tag() const;

  Result<TensorDesc> submemory(std::span<const int64_t> subDims, std::span<const int64_t> offsets) const;
  Result<TensorDesc> reshape(std::span<const int64_t> newDims) const;
  /// out.dims[permutation[d]] = dims[d].
  Result<TensorDesc> permuteAxes(std::span<const int> permutation) const;

  /// Compares floats of the extras by their bits.
  bool operator==(const TensorDesc &other) const;

  /// Writes canonical bytes, which are equal if and only if the descriptors are. read() validates them.
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
