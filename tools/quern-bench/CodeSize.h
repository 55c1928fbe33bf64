//===- CodeSize.h - How large a problem's kernels are ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// From the object file: what the library reports is rounded to pages.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_CODESIZE_H
#define QUERN_BENCH_CODESIZE_H

#include <cstdint>
#include <string>

namespace quern::bench {

/// Bytes of code and of constants that all kernels of the problem have together, compiled for this machine.
/// Throws std::runtime_error.
int64_t codeBytesOf(const std::string &line);

} // namespace quern::bench

#endif // QUERN_BENCH_CODESIZE_H
