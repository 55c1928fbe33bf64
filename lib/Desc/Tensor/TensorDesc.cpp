//===- TensorDesc.cpp - Construction, queries and bytes of a tensor -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The canonical bytes omit parts that are implied: padding, offsets, blocks and extras each have a bit in a byte of
// flags, and the reader refuses a part that is present but redundant. Equal descriptors, and only these, therefore have
// equal bytes.
//
//===----------------------------------------------------------------------===//
#include "Desc/Tensor/Layout.h"
#include "Desc/Tensor/SparseTensor.h"

#include <bit>
#include <numeric>

namespace quern {

using layout::rankOf;

Result<TensorDesc> TensorDesc::fromStrides(std::span<const int64_t> dims, DataType type,
                                           std::span<const int64_t> strides) {
  if (strides.size() != dims.size())
    return invalidArguments(strides.size(), " strides are given for ", dims.size(), " dims");
  QUERN_ASSIGN_OR_RETURN(TensorDesc desc, layout::startBlocked(dims, type));
  if (dims.empty())
    return TensorDesc();
  std::copy(strides.begin(), strides.end(), desc.strides);
  QUERN_RETURN_IF_ERROR(desc.validate());
  return desc;
}

Result<TensorDesc> TensorDesc::dense(std::span<const int64_t> dims, DataType type) {
  QUERN_ASSIGN_OR_RETURN(TensorDesc desc, layout::startBlocked(dims, type));
  if (dims.empty())
    return TensorDesc();
  int order[maxDims];
  std::iota(order, order + maxDims, 0);
  QUERN_RETURN_IF_ERROR(layout::setDense(desc, {order, dims.size()}));
  QUERN_RETURN_IF_ERROR(desc.validate());
  return desc;
}

Result<TensorDesc> TensorDesc::denseLike(DataType type) const {
  if (!isBlockedFormat())
    return invalidArguments("a tensor without a layout cannot provide one");
  TensorDesc desc = *this;
  desc.dataType = type;
  desc.offset0 = 0;
  desc.extras = {};
  std::fill(desc.paddedOffsets, desc.paddedOffsets + maxDims, 0);
  int order[maxDims];
  layout::orderOfDims(*this, order);
  QUERN_RETURN_IF_ERROR(layout::setDense(desc, {order, static_cast<size_t>(rankOf(desc))}));
  QUERN_RETURN_IF_ERROR(desc.validate());
  return desc;
}

/// Returns the number of open dims with inner blocks: their numbers of blocks are also runtime sizes.
static int64_t openBlockCounts(const TensorDesc &desc) {
  int64_t blocks[maxDims], count = 0;
  desc.blockSizes(blocks);
  for (int d = 0; d < rankOf(desc); ++d)
    count += desc.dims[d] == runtimeDim && blocks[d] > 1;
  return count;
}

int64_t TensorDesc::runtimeSizes() const {
  auto count = [](std::span<const int64_t> values) { return std::count(values.begin(), values.end(), runtimeDim); };
  const auto rank = static_cast<size_t>(rankOf(*this));
  if (isSparse())
    return count({dims, rank}) + (sparseLayoutOf(*this).nonzeros == runtimeDim ? 1 : 0);
  if (!isBlockedFormat())
    return count({dims, rank});
  return count({dims, rank}) + count({strides, rank}) + count({&offset0, 1}) + openBlockCounts(*this);
}

bool TensorDesc::hasRuntimeDims() const { return runtimeSizes() > 0; }

bool TensorDesc::hasZeroDim() const {
  auto all = shape();
  return std::find(all.begin(), all.end(), 0) != all.end();
}

bool TensorDesc::hasPadding() const { return !std::equal(dims, dims + rankOf(*this), paddedDims); }

bool TensorDesc::hasBroadcast() const {
  for (int d = 0; d < rankOf(*this); ++d)
    if (isBlockedFormat() && strides[d] == 0 && (dims[d] > 1 || dims[d] == runtimeDim))
      return true;
  return false;
}

void TensorDesc::blockSizes(int64_t (&blocks)[maxDims]) const {
  std::fill(blocks, blocks + maxDims, 1);
  for (int b = 0; b < layout::blockCountOf(*this); ++b)
    if (innerIndices[b] >= 0 && innerIndices[b] < maxDims)
      blocks[innerIndices[b]] *= std::max<int64_t>(innerBlocks[b], 1);
}

static int64_t productOf(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims) {
    if (dim == runtimeDim)
      return runtimeDim;
    product *= dim;
  }
  return product;
}

int64_t TensorDesc::elements() const { return isZero() ? 0 : productOf(shape()); }

int64_t TensorDesc::paddedElements() const {
  return isZero() ? 0 : productOf({paddedDims, static_cast<size_t>(ndims)});
}

Result<TensorDesc> TensorDesc::hostScalar(DataType type) {
  if (bitsOf(type) == 0 || type == DataType::Boolean)
    return invalidArguments("a host scalar cannot be of type ", nameOf(type));
  TensorDesc desc;
  desc.ndims = 1;
  desc.dims[0] = desc.paddedDims[0] = desc.strides[0] = 1;
  desc.dataType = type;
  desc.formatKind = FormatKind::HostScalar;
  return desc;
}

int64_t TensorDesc::bytes() const {
  if (isHostScalar())
    return (bitsOf(dataType) + 7) / 8;
  if (isSparse())
    return bytesOfBuffer(*this, 0);
  if (isZero() || !isBlockedFormat() || hasZeroDim())
    return 0;
  if (hasRuntimeDims())
    return runtimeDim;
  int64_t data = layout::bytesOfElements(layout::footprint(*this), dataType).value();
  int64_t compensation = layout::compensationBytes(*this).value();
  return compensation == 0 ? data : roundUp(data, 4).value() + compensation;
}

int64_t TensorDesc::offsetOf(std::span<const int64_t> index) const {
  int64_t position[maxDims];
  for (int d = 0; d < rankOf(*this); ++d)
    position[d] = index[d] + paddedOffsets[d];
  int64_t offset = offset0, blockStride = 1;
  for (int b = innerBlockCount - 1; b >= 0; --b) {
    int64_t &split = position[innerIndices[b]];
    offset += split % innerBlocks[b] * blockStride;
    split /= innerBlocks[b];
    blockStride *= innerBlocks[b];
  }
  for (int d = 0; d < rankOf(*this); ++d)
    offset += position[d] * strides[d];
  return offset;
}

bool TensorDesc::sameShape(const TensorDesc &other) const {
  return ndims == other.ndims && std::equal(dims, dims + rankOf(*this), other.dims);
}

bool TensorDesc::samePlaces(const TensorDesc &other) const {
  if (!sameShape(other) || formatKind != other.formatKind)
    return false;
  if (isSparse())
    return std::memcmp(strides, other.strides, sizeof(SparseLayout)) == 0;
  if (!isBlockedFormat() || isZero())
    return true;
  auto equal = [](const int64_t *a, const int64_t *b, int count) { return std::equal(a, a + count, b); };
  int rank = rankOf(*this), blocks = layout::blockCountOf(*this);
  return equal(paddedDims, other.paddedDims, rank) && equal(paddedOffsets, other.paddedOffsets, rank) &&
         offset0 == other.offset0 && equal(strides, other.strides, rank) && innerBlockCount == other.innerBlockCount &&
         equal(innerBlocks, other.innerBlocks, blocks) && equal(innerIndices, other.innerIndices, blocks);
}

namespace {

/// Dims of more than one element, in row-major order; neighbors without a gap between them are merged.
struct Runs {
  int64_t sizes[maxDims], strides[maxDims];
  int count = 0;
};

Runs runsOf(const TensorDesc &desc) {
  Runs runs;
  for (int d = 0; d < rankOf(desc); ++d) {
    const int64_t size = desc.dims[d], stride = desc.strides[d];
    if (size == 1)
      continue;
    if (runs.count > 0 && runs.strides[runs.count - 1] == stride * size)
      runs.sizes[runs.count - 1] *= size;
    else
      runs.sizes[runs.count++] = size;
    runs.strides[runs.count - 1] = stride;
  }
  return runs;
}

bool isPlainUnpadded(const TensorDesc &desc) {
  return desc.isPlain() && !desc.hasPadding() &&
         std::all_of(desc.paddedOffsets, desc.paddedOffsets + rankOf(desc), [](int64_t offset) { return offset == 0; });
}

/// Returns `other` with the strides of `desc` along dims that have only one block.
TensorDesc withStridesThatDoNotMatter(TensorDesc other, const TensorDesc &desc) {
  int64_t extents[maxDims];
  layout::outerExtents(other, extents);
  for (int d = 0; d < rankOf(other); ++d)
    if (extents[d] == 1)
      other.strides[d] = desc.strides[d];
  return other;
}

} // namespace

bool TensorDesc::sameStorage(const TensorDesc &other) const {
  if (samePlaces(other))
    return true;
  if (!isBlockedFormat() || !other.isBlockedFormat() || hasZeroDim() || other.hasZeroDim() || hasRuntimeDims() ||
      other.hasRuntimeDims())
    return false;
  if (!isPlainUnpadded(*this) || !isPlainUnpadded(other))
    return sameShape(other) && samePlaces(withStridesThatDoNotMatter(other, *this));
  const Runs mine = runsOf(*this), theirs = runsOf(other);
  return offset0 == other.offset0 && mine.count == theirs.count &&
         std::equal(mine.sizes, mine.sizes + mine.count, theirs.sizes) &&
         std::equal(mine.strides, mine.strides + mine.count, theirs.strides);
}

bool TensorDesc::sameLayout(const TensorDesc &other) const {
  if (!samePlaces(other))
    return false;
  return !isBlockedFormat() || isZero() ||
         (extras.flags == other.extras.flags && extras.compensationMask == other.extras.compensationMask &&
          std::bit_cast<uint32_t>(extras.scaleAdjust) == std::bit_cast<uint32_t>(other.extras.scaleAdjust) &&
          extras.asymmetricCompensationMask == other.extras.asymmetricCompensationMask);
}

bool TensorDesc::operator==(const TensorDesc &other) const {
  return sameLayout(other) && (isZero() || dataType == other.dataType);
}

//===----------------------------------------------------------------------===//
// Canonical bytes
//===----------------------------------------------------------------------===//

namespace {
/// Optional parts after the dims.
enum Part : uint8_t { PartPadding = 1, PartPaddedOffsets = 2, PartOffset = 4, PartBlocks = 8, PartExtras = 16 };

void putAll(ByteWriter &out, const int64_t *values, int count) {
  out.bytes.append(reinterpret_cast<const char *>(values), static_cast<size_t>(count) * sizeof(int64_t));
}

void getAll(ByteReader &in, int64_t *values, int count) {
  std::string_view raw = in.getBytes(static_cast<size_t>(count) * sizeof(int64_t));
  if (in.ok())
    std::memcpy(values, raw.data(), raw.size());
}

/// Computes the default padded dims: multiples of the blocks. Unknown dims, and dims that read() has yet to refuse, are
/// unchanged.
void impliedPadding(const TensorDesc &desc, int64_t (&padded)[maxDims]) {
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  for (int d = 0; d < desc.ndims; ++d)
    padded[d] = desc.dims[d] < 0 ? desc.dims[d] : roundUp(desc.dims[d], blocks[d]).value();
}

uint8_t partsOf(const TensorDesc &desc) {
  if (!desc.isBlockedFormat())
    return 0;
  int64_t padded[maxDims];
  impliedPadding(desc, padded);
  bool hasPaddedOffset =
      std::any_of(desc.paddedOffsets, desc.paddedOffsets + desc.ndims, [](int64_t offset) { return offset != 0; });
  const TensorExtras &extras = desc.extras;
  bool hasExtras = extras.flags != 0 || extras.compensationMask != 0 ||
                   std::bit_cast<uint32_t>(extras.scaleAdjust) != 0 || extras.asymmetricCompensationMask != 0;
  return (std::equal(padded, padded + desc.ndims, desc.paddedDims) ? 0 : PartPadding) |
         (hasPaddedOffset ? PartPaddedOffsets : 0) | (desc.offset0 != 0 ? PartOffset : 0) |
         (desc.innerBlockCount != 0 ? PartBlocks : 0) | (hasExtras ? PartExtras : 0);
}

void readBlocks(ByteReader &in, TensorDesc &desc) {
  desc.innerBlockCount = in.get<uint8_t>();
  if (desc.innerBlockCount > maxDims)
    return in.fail();
  getAll(in, desc.innerBlocks, desc.innerBlockCount);
  getAll(in, desc.innerIndices, desc.innerBlockCount);
  CheckedInt product = 1;
  for (int b = 0; b < desc.innerBlockCount; ++b) // blockSizes() below relies on these
    if (product *= desc.innerBlocks[b];
        desc.innerIndices[b] < 0 || desc.innerIndices[b] >= desc.ndims || desc.innerBlocks[b] <= 0)
      in.fail();
  if (product.overflowed())
    in.fail();
}

void readBlockedPart(ByteReader &in, TensorDesc &desc, uint8_t parts) {
  getAll(in, desc.strides, desc.ndims);
  if (parts & PartBlocks)
    readBlocks(in, desc);
  if (!in.ok())
    return;
  if (parts & PartPadding)
    getAll(in, desc.paddedDims, desc.ndims);
  else
    impliedPadding(desc, desc.paddedDims);
  if (parts & PartPaddedOffsets)
    getAll(in, desc.paddedOffsets, desc.ndims);
  if (parts & PartOffset)
    desc.offset0 = in.get<int64_t>();
  if (parts & PartExtras) {
    desc.extras.flags = in.get<uint64_t>();
    desc.extras.compensationMask = in.get<int32_t>();
    desc.extras.scaleAdjust = std::bit_cast<float>(in.get<uint32_t>());
    desc.extras.asymmetricCompensationMask = in.get<int32_t>();
  }
}
} // namespace

void TensorDesc::write(ByteWriter &out) const {
  out.put<uint8_t>(static_cast<uint8_t>(rankOf(*this)));
  if (isZero())
    return;
  uint8_t parts = partsOf(*this);
  out.put(dataType);
  out.put<uint8_t>(static_cast<uint8_t>(formatKind));
  out.put(parts);
  putAll(out, dims, ndims);
  if (!isBlockedFormat())
    return;
  putAll(out, strides, ndims);
  if (parts & PartBlocks) {
    out.put<uint8_t>(static_cast<uint8_t>(innerBlockCount));
    putAll(out, innerBlocks, innerBlockCount);
    putAll(out, innerIndices, innerBlockCount);
  }
  if (parts & PartPadding)
    putAll(out, paddedDims, ndims);
  if (parts & PartPaddedOffsets)
    putAll(out, paddedOffsets, ndims);
  if (parts & PartOffset)
    out.put(offset0);
  if (parts & PartExtras) {
    out.put(extras.flags);
    out.put(extras.compensationMask);
    out.put(std::bit_cast<uint32_t>(extras.scaleAdjust));
    out.put(extras.asymmetricCompensationMask);
  }
}

Result<TensorDesc> TensorDesc::read(ByteReader &in) {
  TensorDesc desc;
  uint8_t rank = in.get<uint8_t>();
  if (rank > maxDims)
    return invalidArguments("a tensor has ", int(rank), " dims; at most ", maxDims);
  desc.ndims = rank;
  if (rank == 0)
    return in.ok() ? Result<TensorDesc>(desc) : invalidArguments("the bytes of a tensor end early");
  desc.dataType = in.get<DataType>();
  desc.formatKind = static_cast<FormatKind>(in.get<uint8_t>());
  uint8_t parts = in.get<uint8_t>();
  getAll(in, desc.dims, rank);
  std::copy(desc.dims, desc.dims + rank, desc.paddedDims);
  if (desc.isBlockedFormat() && in.ok())
    readBlockedPart(in, desc, parts);
  if (!in.ok())
    return invalidArguments("the bytes of a tensor end early or contain an invalid block");
  QUERN_RETURN_IF_ERROR(desc.validate());
  if (partsOf(desc) != parts)
    return invalidArguments("the bytes of a tensor are not canonical: parts are ", int(parts), ", but ",
                            int(partsOf(desc)), " are expected");
  return desc;
}

} // namespace quern
