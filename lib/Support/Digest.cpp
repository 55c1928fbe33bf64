//===- Digest.cpp - XXH3-128 ----------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The hash is fixed by its specification (with seed 0), so it does not depend on the version of xxHash.
//
//===----------------------------------------------------------------------===//
#include "Support/Digest.h"

#include <xxhash.h>

namespace quern {

std::string Digest::hex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[i] = digits[(high >> (60 - 4 * i)) & 15];
    text[16 + i] = digits[(low >> (60 - 4 * i)) & 15];
  }
  return text;
}

Digest digestOf(std::string_view bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

} // namespace quern
