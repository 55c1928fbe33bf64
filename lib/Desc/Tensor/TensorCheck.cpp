//===- TensorCheck.cpp - Validation of tensor descriptors -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// validate() checks descriptors from outside: queries of a valid descriptor stay within the arrays and within int64.
// Each check relies on those before it.
//
//===----------------------------------------------------------------------===//
#include "Desc/FieldVisitor.h"
#include "Desc/Tensor/Layout.h"

namespace quern {
namespace {

using layout::textOfDims;

Result<void> checkDims(const TensorDesc &desc) {
  CheckedInt count = 1;
  for (int d = 0; d < desc.ndims; ++d) {
    int64_t dim = desc.dims[d];
    if (dim < 0 && dim != runtimeDim)
      return invalidArguments("dim ", d, " is ", dim, "; it must be at least 0");
    count *= dim == runtimeDim ? 1 : std::max<int64_t>(dim, 1);
  }
  if (count.overflowed())
    return invalidArguments("dims ", textOfDims(desc.shape()), " have more than ", INT64_MAX, " elements");
  return {};
}

Result<void> checkAny(const TensorDesc &desc) {
  if (desc.hasRuntimeDims())
    return invalidArguments("layout `any` needs known dims; they are ", textOfDims(desc.shape()));
  if (desc.offset0 != 0)
    return invalidArguments("layout `any` has no offset; it is ", desc.offset0);
  if (desc.innerBlockCount != 0)
    return invalidArguments("layout `any` has no inner blocks; it has ", desc.innerBlockCount);
  if (desc.extras.flags != 0)
    return invalidArguments("layout `any` has no extras; its flags are ", desc.extras.flags);
  return {};
}

Result<void> checkBlocks(const TensorDesc &desc) {
  if (desc.innerBlockCount < 0 || desc.innerBlockCount > maxDims)
    return invalidArguments("a tensor has ", desc.innerBlockCount, " inner blocks; between 0 and ", maxDims,
                            " are possible");
  CheckedInt product = 1;
  for (int b = 0; b < desc.innerBlockCount; ++b) {
    if (desc.innerIndices[b] < 0 || desc.innerIndices[b] >= desc.ndims)
      return invalidArguments("inner block ", b, " splits dim ", desc.innerIndices[b], " of a tensor of rank ",
                              desc.ndims);
    if (desc.innerBlocks[b] < 1 || desc.innerBlocks[b] > INT32_MAX)
      return invalidArguments("inner block ", b, " has size ", desc.innerBlocks[b], "; between 1 and ", INT32_MAX,
                              " is possible");
    product *= desc.innerBlocks[b];
  }
  if (product.overflowed())
    return invalidArguments("the inner blocks have more than ", INT64_MAX, " elements");
  return {};
}

Result<void> checkPadding(const TensorDesc &desc) {
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  CheckedInt count = 1;
  for (int d = 0; d < desc.ndims; ++d) {
    int64_t padded = desc.paddedDims[d], offset = desc.paddedOffsets[d];
    if (offset < 0)
      return invalidArguments("padded offset of dim ", d, " is ", offset, "; it must be at least 0");
    if (desc.dims[d] == runtimeDim || padded == runtimeDim) {
      if (padded != desc.dims[d] || offset != 0)
        return invalidArguments("dim ", d, " is known only at execution; the same must hold for its padding");
      continue;
    }
    CheckedInt minPadded = CheckedInt(desc.dims[d]) + CheckedInt(offset);
    if (minPadded.overflowed() || padded < minPadded.value())
      return invalidArguments("padded dim ", d, " is ", padded, "; dim and padded offset need ", desc.dims[d], " + ",
                              offset);
    const bool isPartOfBlock = padded == desc.dims[d] && padded < blocks[d] && desc.extras.flags == 0;
    if (padded % blocks[d] != 0 && !isPartOfBlock)
      return invalidArguments("padded dim ", d, " is ", padded, ", not a multiple of its block ", blocks[d]);
    count *= std::max<int64_t>(padded, 1);
  }
  if (count.overflowed())
    return invalidArguments("the padded dims have more than ", INT64_MAX, " elements");
  return {};
}

/// Checks that, sorted by stride, each stride is at least the next smaller one times its extent. Then no two elements
/// share an address, except with stride 0, which broadcasts.
Result<void> checkStrides(const TensorDesc &desc) {
  int64_t extents[maxDims];
  layout::outerExtents(desc, extents);
  for (int d = 0; d < desc.ndims; ++d)
    if (desc.strides[d] < 0 && desc.strides[d] != runtimeDim)
      return invalidArguments("stride of dim ", d, " is ", desc.strides[d], "; it must be at least 0");
  if (desc.hasZeroDim() || desc.hasRuntimeDims())
    return {};
  int order[maxDims];
  layout::orderOfDims(desc, order);
  CheckedInt minStride = layout::innerElements(desc);
  for (int i = desc.ndims - 1; i >= 0; --i) {
    int d = order[i];
    if (desc.strides[d] == 0 || extents[d] <= 1)
      continue;
    if (minStride.overflowed() || desc.strides[d] < minStride.value())
      return invalidArguments("stride ", desc.strides[d], " of dim ", d, " is less than ",
                              minStride.overflowed() ? "2^63" : std::to_string(minStride.value()),
                              ": elements would overlap");
    minStride = CheckedInt(desc.strides[d]) * CheckedInt(extents[d]);
  }
  return {};
}

Result<void> checkExtras(const TensorDesc &desc) {
  const TensorExtras &extras = desc.extras;
  constexpr uint64_t compensated = ExtraS8S8 | ExtraRnnU8S8 | ExtraRnnS8S8;
  constexpr uint64_t known = compensated | ExtraScaleAdjust | ExtraAsymmetricSource;
  if (extras.flags & ~known)
    return invalidArguments("extra flags are ", extras.flags, "; known bits are ", known);
  auto checkMask = [&](const char *name, int32_t mask, bool flagged) -> Result<void> {
    if (!flagged && mask != 0)
      return invalidArguments(name, " is ", mask, " without its flag");
    if (mask < 0 || mask >= (1 << desc.ndims))
      return invalidArguments(name, " is ", mask, "; a tensor of rank ", desc.ndims, " allows 0 to ",
                              (1 << desc.ndims) - 1);
    return {};
  };
  QUERN_RETURN_IF_ERROR(checkMask("compensation mask", extras.compensationMask, extras.flags & compensated));
  if (Result<void> mask = checkMask("asymmetric compensation mask", extras.asymmetricCompensationMask,
                                    extras.flags & ExtraAsymmetricSource);
      !mask)
    return mask;
  if (!(extras.flags & ExtraScaleAdjust) && std::bit_cast<uint32_t>(extras.scaleAdjust) != 0)
    return invalidArguments("scale adjust is ", extras.scaleAdjust, " without its flag");
  return {};
}

Result<void> checkSize(const TensorDesc &desc) {
  if (desc.offset0 < 0 && desc.offset0 != runtimeDim)
    return invalidArguments("offset is ", desc.offset0, "; it must be at least 0");
  CheckedInt data = layout::bytesOfElements(layout::footprint(desc), desc.dataType);
  CheckedInt all = data + CheckedInt(4) + layout::compensationBytes(desc);
  if (all.overflowed())
    return invalidArguments("a tensor of dims ", textOfDims(desc.shape()), " and strides ",
                            textOfDims(desc.outerStrides()), " needs more than ", INT64_MAX, " bytes");
  return {};
}

} // namespace

Result<void> TensorDesc::validate() const {
  if (ndims < 0 || ndims > maxDims)
    return invalidArguments("a tensor has ", ndims, " dims; between 0 and ", maxDims, " are possible");
  if (ndims == 0)
    return {};
  if (dataType == DataType::Undef || !isKnown(dataType))
    return invalidArguments("data type ", static_cast<int32_t>(dataType), " is not valid for a tensor");
  if (isSparse())
    return unimplemented("the tensor is sparse; only dense tensors are supported");
  if (formatKind != FormatKind::Any && formatKind != FormatKind::Blocked)
    return invalidArguments("format kind ", static_cast<int32_t>(formatKind), " is neither 1 (any) nor 2 (blocked)");
  QUERN_RETURN_IF_ERROR(checkDims(*this));
  if (isAny())
    return checkAny(*this);
  for (auto check : {checkBlocks, checkPadding, checkStrides, checkExtras, checkSize})
    QUERN_RETURN_IF_ERROR(check(*this));
  return {};
}

} // namespace quern
