//===- Key.h - Cache key of a compiled kernel -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Descriptor, target and compiler build as bytes, and their hash. Lookups use the hash and then compare the bytes.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_KEY_H
#define QUERN_DESC_KEY_H

#include "Desc/PrimitiveDesc.h"
#include "Desc/Target.h"

namespace quern {

struct KernelKey {
  std::string bytes; ///< build id, target text, canonical descriptor bytes: each length-prefixed
  Digest digest;
  bool operator==(const KernelKey &other) const { return digest == other.digest && bytes == other.bytes; }
};

/// Identifies the code generator: a hash of its sources and LLVM's version, fixed when Quern is built. Artifacts of
/// another build are misses.
std::string_view compilerBuildId();

/// Builds a key from every field; keyOf() (Primitives/Registry.h) drops the fields that do not change the code.
KernelKey makeKey(const PrimitiveDesc &desc, const Target &target);

} // namespace quern

#endif // QUERN_DESC_KEY_H
