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

/// Returns the number of column vectors of a block: of 6x2 vectors of sums with AVX2, 6x4 with AVX-512, 2x4 with SSE,
/// which multiplies and adds in two instructions, and 4 columns on other targets.
inline int64_t tileVectorsOf(const Target &target) { return target.isa == CpuIsa::Avx2 ? 2 : 4; }

} // namespace quern

#endif // QUERN_DESC_CPUTILE_H
