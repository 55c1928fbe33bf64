//===- IndexedProducts.h - Products by an element of a register -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_AARCH64_INDEXEDPRODUCTS_H
#define QUERN_TARGETS_AARCH64_INDEXEDPRODUCTS_H

#include "llvm/IR/Function.h"

namespace quern {

/// Uses instructions with an element index for products by one element of a 128-bit vector that is repeated in all
/// lanes of a register of `granules` times 128 bits. Also repeats a 128-bit vector with one instruction. The results
/// are the same.
void useIndexedProducts(llvm::Function &function, unsigned granules);

} // namespace quern

#endif // QUERN_TARGETS_AARCH64_INDEXEDPRODUCTS_H
