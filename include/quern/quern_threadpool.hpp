//===- quern/quern_threadpool.hpp - Streams on the embedder's thread pool in C++ ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Creates streams that run on a thread pool of the caller, for quern_threadpool.h.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_THREADPOOL_HPP
#define QUERN_THREADPOOL_HPP

#include "quern/quern_handle.hpp"
#include "quern/quern_threadpool.h"
#include "quern/quern_threadpool_iface.hpp"

namespace quern {
namespace threadpool_interop {

/// See quern_threadpool_interop_stream_create().
inline stream make_stream(const engine &aengine, threadpool_iface *pool) {
  quern_stream_t created = nullptr;
  error::wrap_c_api(quern_threadpool_interop_stream_create(&created, aengine.get(), pool), "could not create a stream");
  return stream(created);
}

} // namespace threadpool_interop
} // namespace quern

#endif // QUERN_THREADPOOL_HPP
