//===- Products.h - AArch64 instructions that multiply and add ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_MODEL_PRODUCTS_H
#define QUERN_BENCH_MODEL_PRODUCTS_H

#include <optional>
#include <string>

namespace quern::bench {

struct ModelProduct {
  std::string instruction;
  double flops; ///< a multiplication and an addition are two
};

/// Returns the multiply-adds of a line of assembly; nothing for other instructions. `target` has the length of SVE
/// vectors.
std::optional<ModelProduct> productOf(const std::string &line, const std::string &target);

} // namespace quern::bench

#endif // QUERN_BENCH_MODEL_PRODUCTS_H
