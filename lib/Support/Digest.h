//===- Digest.h - 128-bit content hash ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// XXH3-128 of bytes. Not cryptographic: code that relies on equality must compare the bytes as well.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_DIGEST_H
#define QUERN_SUPPORT_DIGEST_H

#include <cstdint>
#include <string>
#include <string_view>

namespace quern {

struct Digest {
  uint64_t low = 0, high = 0;
  bool operator==(const Digest &) const = default;
  /// Returns 32 lower-case hexadecimal digits, high word first.
  std::string hex() const;
};

Digest digestOf(std::string_view bytes);

} // namespace quern

#endif // QUERN_SUPPORT_DIGEST_H
