//===- Bytes.h - Bounds-checked little-endian reading and writing ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The encoding of keys, artifacts and cache files. A ByteReader never reads past its end: the first short read sets its
// failed state, which is permanent, so the caller checks only once.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_BYTES_H
#define QUERN_SUPPORT_BYTES_H

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace quern {

class ByteWriter {
public:
  template <typename T> void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    char raw[sizeof(T)]; // memory order is little-endian on x86-64 and AArch64
    std::memcpy(raw, &value, sizeof(T));
    bytes.append(raw, sizeof(T));
  }
  /// Appends a 32-bit length, then the bytes.
  void putString(std::string_view text) {
    put<uint32_t>(static_cast<uint32_t>(text.size()));
    bytes.append(text);
  }
  std::string take() { return std::move(bytes); }
  std::string bytes;
};

class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : rest(bytes) {}
  template <typename T> T get() {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    T value{};
    if (rest.size() < sizeof(T)) {
      fail();
      return value;
    }
    std::memcpy(&value, rest.data(), sizeof(T));
    rest.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view getBytes(uint64_t size) {
    if (rest.size() < size) {
      fail();
      return {};
    }
    std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }
  std::string_view getString() { return getBytes(get<uint32_t>()); }
  void fail() {
    failed = true;
    rest = {};
  }
  bool ok() const { return !failed; }
  bool atEnd() const { return rest.empty(); }
  size_t remaining() const { return rest.size(); }

private:
  std::string_view rest;
  bool failed = false;
};

} // namespace quern

#endif // QUERN_SUPPORT_BYTES_H
