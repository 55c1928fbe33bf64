//===- Key.cpp - Making a kernel's key ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A key is made on every lookup, so it is written into one buffer, once.
//
//===----------------------------------------------------------------------===//
#include "Desc/Key.h"

#include "Support/Bytes.h"

#include <optional>

namespace quern {

namespace {

/// Where a reorder's tensors are changes who moves them, not the kernel.
const PrimitiveDesc &withoutEngines(const PrimitiveDesc &desc, std::optional<PrimitiveDesc> &copy) {
  const auto *reorder = std::get_if<ReorderDesc>(&desc.op);
  if (!reorder || (reorder->srcEngine == EngineKind::Cpu && reorder->dstEngine == EngineKind::Cpu))
    return desc;
  auto &own = std::get<ReorderDesc>(copy.emplace(desc).op);
  own.srcEngine = own.dstEngine = EngineKind::Cpu;
  return *copy;
}

} // namespace

KernelKey makeKey(const PrimitiveDesc &desc, const Target &target) {
  std::optional<PrimitiveDesc> copy;
  ByteWriter out;
  out.bytes.reserve(640);
  out.putString(compilerBuildId());
  out.putString(target.text());
  size_t lengthAt = out.bytes.size();
  out.put<uint32_t>(0);
  withoutEngines(desc, copy).write(out);
  auto length = static_cast<uint32_t>(out.bytes.size() - lengthAt - sizeof(uint32_t));
  std::memcpy(out.bytes.data() + lengthAt, &length, sizeof(length));
  KernelKey key;
  key.bytes = out.take();
  key.digest = digestOf(key.bytes);
  return key;
}

} // namespace quern
