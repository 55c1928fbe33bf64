//===- Functions.h - One table of functions for every library -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// oneDNN's functions have the same signatures as Quern's, so one table of pointers serves every library.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_CONTESTANTS_FUNCTIONS_H
#define QUERN_BENCH_CONTESTANTS_FUNCTIONS_H

#include "quern/quern.h"

#include <string>

namespace quern::bench {

#define QUERN_CALLS(X)                                                                                                 \
  X(engine_create)                                                                                                     \
  X(engine_destroy)                                                                                                    \
  X(stream_create)                                                                                                     \
  X(stream_wait)                                                                                                       \
  X(stream_destroy)                                                                                                    \
  X(memory_desc_create_with_strides)                                                                                   \
  X(memory_desc_destroy)                                                                                               \
  X(memory_create)                                                                                                     \
  X(memory_get_data_handle)                                                                                            \
  X(memory_destroy)                                                                                                    \
  X(softmax_forward_primitive_desc_create)                                                                             \
  X(eltwise_forward_primitive_desc_create)                                                                             \
  X(binary_primitive_desc_create)                                                                                      \
  X(lstm_forward_primitive_desc_create)                                                                                \
  X(reorder_primitive_desc_create)                                                                                     \
  X(primitive_desc_destroy)                                                                                            \
  X(primitive_create)                                                                                                  \
  X(primitive_execute)                                                                                                 \
  X(primitive_destroy)                                                                                                 \
  X(sgemm)

struct Functions {
#define QUERN_POINTER(NAME) decltype(&quern_##NAME) NAME;
  QUERN_CALLS(QUERN_POINTER) // NOLINT(readability-identifier-naming): called as the functions
#undef QUERN_POINTER

  /// Opens the library at the path and never closes it; "" selects this program's Quern. Throws std::runtime_error.
  explicit Functions(const std::string &libraryPath);
};

/// Throws std::runtime_error unless `status` is quern_success.
void require(quern_status_t status);

} // namespace quern::bench

#endif // QUERN_BENCH_CONTESTANTS_FUNCTIONS_H
