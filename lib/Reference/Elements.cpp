//===- Elements.cpp - Elements and tensors as doubles ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Buffers may be unaligned, so elements are accessed with memcpy.
//
//===----------------------------------------------------------------------===//
#include "Reference/Elements.h"

#include "Support/NarrowFloat.h"

#include <cstring>

namespace quern {
namespace {

template <typename T> T loadRaw(const void *buffer, int64_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char *>(buffer) + offset * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T> void storeRaw(void *buffer, int64_t offset, T value) {
  std::memcpy(static_cast<char *>(buffer) + offset * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

/// Saturates first, then rounds to nearest even; NaN becomes 0.
double toInteger(double value, double low, double high) {
  if (std::isnan(value))
    return 0;
  double clamped = std::min(std::max(value, low), high);
  double whole = std::floor(clamped), rest = clamped - whole;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0))
    whole += 1;
  return whole;
}

template <typename T> T toInteger(double value) {
  return static_cast<T>(toInteger(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// Elements are packed two per byte, the even one in the lower half.
uint32_t loadHalfByte(const void *buffer, int64_t offset) {
  return loadRaw<uint8_t>(buffer, offset / 2) >> offset % 2 * 4 & 15;
}

void storeHalfByte(void *buffer, int64_t offset, uint32_t value) {
  int shift = static_cast<int>(offset % 2 * 4);
  uint32_t other = loadRaw<uint8_t>(buffer, offset / 2) & ~(15u << shift);
  storeRaw(buffer, offset / 2, static_cast<uint8_t>(other | (value & 15) << shift));
}

const NarrowFormat &formatOf(DataType type) {
  switch (type) {
  case DataType::BF16:
    return bf16Format;
  case DataType::F16:
    return f16Format;
  case DataType::F8E5M2:
    return f8E5M2Format;
  case DataType::F4E2M1:
    return f4E2M1Format;
  default:
    return f8E4M3Format;
  }
}

} // namespace

double loadElement(DataType type, const void *buffer, int64_t offset) {
  switch (type) {
  case DataType::F64:
    return loadRaw<double>(buffer, offset);
  case DataType::F32:
    return loadRaw<float>(buffer, offset);
  case DataType::BF16:
  case DataType::F16:
    return decodeNarrow(loadRaw<uint16_t>(buffer, offset), formatOf(type));
  case DataType::F8E5M2:
  case DataType::F8E4M3:
    return decodeNarrow(loadRaw<uint8_t>(buffer, offset), formatOf(type));
  case DataType::S32:
    return loadRaw<int32_t>(buffer, offset);
  case DataType::S8:
    return loadRaw<int8_t>(buffer, offset);
  case DataType::E8M0:
    return decodeE8M0(loadRaw<uint8_t>(buffer, offset));
  case DataType::F4E2M1:
    return decodeNarrow(loadHalfByte(buffer, offset), formatOf(type));
  case DataType::U4:
    return loadHalfByte(buffer, offset);
  case DataType::S4:
    return static_cast<int>(loadHalfByte(buffer, offset) ^ 8) - 8;
  default:
    return loadRaw<uint8_t>(buffer, offset);
  }
}

void storeElement(DataType type, void *buffer, int64_t offset, double value) {
  switch (type) {
  case DataType::F64:
    return storeRaw(buffer, offset, value);
  case DataType::F32:
    return storeRaw(buffer, offset, static_cast<float>(value));
  case DataType::BF16:
  case DataType::F16:
    return storeRaw(buffer, offset, static_cast<uint16_t>(encodeNarrow(value, formatOf(type))));
  case DataType::F8E5M2:
  case DataType::F8E4M3:
    return storeRaw(buffer, offset, static_cast<uint8_t>(encodeNarrow(value, formatOf(type))));
  case DataType::S32:
    return storeRaw(buffer, offset, toInteger<int32_t>(value));
  case DataType::S8:
    return storeRaw(buffer, offset, toInteger<int8_t>(value));
  case DataType::E8M0:
    return storeRaw(buffer, offset, encodeE8M0(value));
  case DataType::F4E2M1:
    return storeHalfByte(buffer, offset, encodeNarrow(value, formatOf(type)));
  case DataType::U4:
    return storeHalfByte(buffer, offset, static_cast<uint32_t>(toInteger(value, 0, 15)));
  case DataType::S4:
    return storeHalfByte(buffer, offset, static_cast<uint32_t>(static_cast<int>(toInteger(value, -8, 7))));
  default:
    return storeRaw(buffer, offset, toInteger<uint8_t>(value));
  }
}

uint64_t loadBits(DataType type, const void *buffer, int64_t offset) {
  switch (bitsOf(type)) {
  case 64:
    return loadRaw<uint64_t>(buffer, offset);
  case 32:
    return loadRaw<uint32_t>(buffer, offset);
  case 16:
    return loadRaw<uint16_t>(buffer, offset);
  case 8:
    return loadRaw<uint8_t>(buffer, offset);
  default:
    return loadHalfByte(buffer, offset);
  }
}

double roundTo(DataType type, double value) {
  char element[sizeof(double)] = {};
  storeElement(type, element, 0, value);
  return loadElement(type, element, 0);
}

double epsilonOf(DataType type) {
  switch (type) {
  case DataType::F64:
    return 0x1p-52;
  case DataType::F32:
    return 0x1p-23;
  case DataType::BF16:
  case DataType::F16:
  case DataType::F8E5M2:
  case DataType::F8E4M3:
  case DataType::F4E2M1:
    return std::ldexp(1.0, -formatOf(type).mantissaBits);
  default:
    return 1;
  }
}

void forEachElement(const TensorDesc &desc, const std::function<void(int64_t, int64_t)> &visit) {
  if (desc.isZero() || desc.hasZeroDim())
    return;
  int last = desc.ndims - 1;
  int64_t index[maxDims] = {};
  std::span<const int64_t> indices(index, static_cast<size_t>(desc.ndims));
  int64_t position = 0;
  for (bool more = true; more;) {
    int64_t row = desc.offsetOf(indices);
    for (; index[last] < desc.dims[last]; ++index[last])
      visit(position++, desc.isPlain() ? row + index[last] * desc.strides[last] : desc.offsetOf(indices));
    index[last] = 0;
    more = false;
    for (int dim = last - 1; dim >= 0 && !more; --dim) {
      more = ++index[dim] < desc.dims[dim];
      if (!more)
        index[dim] = 0;
    }
  }
}

std::vector<double> gather(const TensorDesc &desc, const void *buffer) {
  std::vector<double> values(desc.isZero() ? 0 : static_cast<size_t>(desc.elements()));
  forEachElement(desc, [&](int64_t position, int64_t offset) {
    values[static_cast<size_t>(position)] = loadElement(desc.dataType, buffer, offset);
  });
  return values;
}

void scatter(const TensorDesc &desc, void *buffer, std::span<const double> values) {
  forEachElement(desc, [&](int64_t position, int64_t offset) {
    storeElement(desc.dataType, buffer, offset, values[static_cast<size_t>(position)]);
  });
}

} // namespace quern
