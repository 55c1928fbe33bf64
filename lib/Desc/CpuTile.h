//===- CpuTile.h - Blocks of sums in the registers of a CPU ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Used by the schedule of products and by the layouts of packed weights, whose panels have the width of a block.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_CPUTILE_H
#define QUERN_DESC_CPUTILE_H

#include "Desc/Target.h"

namespace quern {

/// Returns the width of a block in vectors. With AVX2 a block has 6x2 vectors of sums, with AVX-512 6x4, and with SSE,
/// which multiplies and adds in two instructions, 2x4. The width is 4 on all other targets.
inline int64_t tileVectorsOf(const Target &target) { return target.isa == CpuIsa::Avx2 ? 2 : 4; }

} // namespace quern

#endif // QUERN_DESC_CPUTILE_H
