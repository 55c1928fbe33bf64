//===- CodeSize.h - Size of a problem's kernels ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The size is read from the object file, because the size that the library reports is rounded to pages.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_CODESIZE_H
#define QUERN_BENCH_CODESIZE_H

#include <cstdint>
#include <string>

namespace quern::bench {

/// Returns the bytes of code and constants of all kernels of the problem, compiled for this machine. Throws
/// std::runtime_error.
int64_t codeBytesOf(const std::string &line);

} // namespace quern::bench

#endif // QUERN_BENCH_CODESIZE_H
