//===- FieldVisitor.h - Bytes and equality from the list of fields --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A descriptor lists its fields once, in visitFields(self, visit), which calls visit(name, field) for each. This file
// derives the canonical bytes, their bounds-checked reader and equality from that list; TextForm derives the text. A
// type without a rule here does not compile, so no field can be omitted silently.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_FIELDVISITOR_H
#define QUERN_DESC_FIELDVISITOR_H

#include "Desc/Tensor/TensorDesc.h"
#include "Support/Bytes.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace quern {

template <typename T> inline constexpr bool isVector = false;
template <typename T> inline constexpr bool isVector<std::vector<T>> = true;
template <typename T> inline constexpr bool isMap = false;
template <typename K, typename V> inline constexpr bool isMap<std::map<K, V>> = true;

/// Returns true if the value is one of the enum's. Only these have a name that maps back to them.
template <typename Enum> bool isKnown(Enum value) { return fromName<Enum>(nameOf(value)) == value; }

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

struct FieldWriter;
template <typename T> void writeField(ByteWriter &out, const T &value);

struct FieldWriter {
  ByteWriter &out;
  template <typename T> void operator()(const char *, const T &value) { writeField(out, value); }
};

template <typename T> void writeField(ByteWriter &out, const T &value) {
  if constexpr (std::is_same_v<T, bool>) {
    out.put<uint8_t>(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    out.put(value); // floats by their bits: -0 and 0 differ, and so do NaNs
  } else if constexpr (std::is_same_v<T, std::string>) {
    out.putString(value);
  } else if constexpr (std::is_same_v<T, TensorDesc>) {
    value.write(out);
  } else if constexpr (isVector<T>) {
    out.put<uint32_t>(static_cast<uint32_t>(value.size()));
    for (const auto &element : value)
      writeField(out, element);
  } else if constexpr (isMap<T>) {
    out.put<uint32_t>(static_cast<uint32_t>(value.size()));
    for (const auto &[key, element] : value) {
      out.put(key);
      writeField(out, element);
    }
  } else {
    FieldWriter nested{out};
    T::visitFields(value, nested);
  }
}

/// Compares field by field, floats by their bits.
template <typename T> bool sameFields(const T &a, const T &b) {
  ByteWriter bytesOfA, bytesOfB;
  writeField(bytesOfA, a);
  writeField(bytesOfB, b);
  return bytesOfA.bytes == bytesOfB.bytes;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads the bytes of FieldWriter. On invalid bytes the reader fails, and `failedField` names the innermost invalid
/// field.
struct FieldReader {
  ByteReader &in;
  std::string failedField, reason;

  template <typename T> void operator()(const char *name, T &value) {
    if (!in.ok())
      return;
    readValue(value);
    if (!in.ok() && failedField.empty())
      failedField = name;
  }

  template <typename T> void readValue(T &value) {
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t raw = in.get<uint8_t>();
      raw > 1 ? in.fail() : void(value = raw);
    } else if constexpr (std::is_enum_v<T>) {
      value = in.get<T>();
      if (!isKnown(value))
        in.fail();
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = in.get<T>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = in.getString();
    } else if constexpr (std::is_same_v<T, TensorDesc>) {
      readTensor(value);
    } else if constexpr (isVector<T>) {
      readVector(value);
    } else if constexpr (isMap<T>) {
      readMap(value);
    } else {
      T::visitFields(value, *this);
    }
  }

private:
  void readTensor(TensorDesc &value) {
    Result<TensorDesc> read = TensorDesc::read(in);
    if (read) {
      value = *read;
      return;
    }
    reason = read.error().message;
    in.fail();
  }
  /// Each element takes at least a byte, which bounds the memory that a wrong count can allocate. Tensors are much
  /// larger than their bytes and have a separate limit.
  uint32_t readCount(size_t limit = SIZE_MAX) {
    uint32_t count = in.get<uint32_t>();
    if (count > std::min(limit, in.remaining()))
      in.fail();
    return in.ok() ? count : 0;
  }
  template <typename T> void readVector(std::vector<T> &value) {
    uint32_t count = readCount(std::is_same_v<T, TensorDesc> ? maxSources : SIZE_MAX);
    value.clear();
    for (uint32_t i = 0; i < count && in.ok(); ++i)
      readValue(value.emplace_back());
  }
  template <typename K, typename V> void readMap(std::map<K, V> &value) {
    uint32_t count = readCount();
    value.clear();
    for (uint32_t i = 0; i < count && in.ok(); ++i) {
      K key = in.get<K>();
      if (!value.empty() && key <= value.rbegin()->first)
        in.fail(); // keys ascend, so equal maps have equal bytes
      else
        readValue(value[key]);
    }
  }
};

} // namespace quern

#endif // QUERN_DESC_FIELDVISITOR_H
