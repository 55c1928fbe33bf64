//===- Transforms.cpp - Names and registration of the passes --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Registration happens on request, never in a static initialiser: an embedder's process may have its own passes.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Transforms.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

#include <mutex>

namespace quern {

llvm::StringRef nameOfVectorIsa(VectorIsa isa) {
  switch (isa) {
  case VectorIsa::Device:
    return "device";
  case VectorIsa::Sse42:
    return "sse42";
  case VectorIsa::Avx2:
    return "avx2";
  case VectorIsa::Avx512:
    return "avx512";
  case VectorIsa::Avx512Vnni:
    return "avx512_vnni";
  case VectorIsa::Avx512Bf16:
    return "avx512_bf16";
  }
  return "unknown";
}

std::optional<VectorIsa> vectorIsaFromName(llvm::StringRef name) {
  for (VectorIsa isa :
       {VectorIsa::Device, VectorIsa::Sse42, VectorIsa::Avx2, VectorIsa::Avx512, VectorIsa::Avx512Vnni, VectorIsa::Avx512Bf16})
    if (name == nameOfVectorIsa(isa))
      return isa;
  return std::nullopt;
}

void registerTransformPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerPass([] { return createExpandMathPass(); });
    mlir::registerPass([] { return createExpandNarrowFloatsPass(); });
  });
}

} // namespace quern
