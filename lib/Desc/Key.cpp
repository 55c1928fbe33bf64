//===- Key.cpp - Construction of a kernel's key ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every lookup needs a key, so it is written into one buffer in one pass.
//
//===----------------------------------------------------------------------===//
#include "Desc/Key.h"

#include "Support/Bytes.h"

namespace quern {

KernelKey makeKey(const PrimitiveDesc &desc, const Target &target) {
  ByteWriter out;
  const auto *mlir = std::get_if<MlirDesc>(&desc.op);
  out.bytes.reserve(640 + (mlir ? mlir->module.size() + mlir->code.size() : 0));
  out.putString(compilerBuildId());
  out.putString(target.text());
  size_t lengthAt = out.bytes.size();
  out.put<uint32_t>(0);
  desc.write(out);
  auto length = static_cast<uint32_t>(out.bytes.size() - lengthAt - sizeof(uint32_t));
  std::memcpy(out.bytes.data() + lengthAt, &length, sizeof(length));
  KernelKey key;
  key.bytes = out.take();
  key.digest = digestOf(key.bytes);
  return key;
}

} // namespace quern
