//===- quern/quern_threadpool_iface.hpp - What a thread pool must do ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implemented by an embedder who wants kernels to run on threads of its own; handed over with quern_threadpool.h.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_THREADPOOL_IFACE_HPP
#define QUERN_THREADPOOL_IFACE_HPP

#include <cstdint>
#include <functional>

namespace quern {
namespace threadpool_interop {

struct threadpool_iface {
  /// Threads that run closures at the same time, the caller of parallel_for() included if it takes part. At least 1.
  virtual int get_num_threads() const = 0;
  /// Whether the calling thread is one of the pool's. A kernel started there runs on that thread alone.
  virtual bool get_in_parallel() const = 0;
  /// Calls fn(i, n) once for each i in [0, n), on any thread, in any order.
  virtual void parallel_for(int n, const std::function<void(int, int)> &fn) = 0;
  /// 0, or ASYNCHRONOUS if parallel_for() may return before the closures have run.
  virtual uint64_t get_flags() const = 0;
  /// Returns once the closures of every parallel_for() so far have run.
  virtual void wait() = 0;
  static constexpr uint64_t ASYNCHRONOUS = 1;
  virtual ~threadpool_iface() = default;
};

} // namespace threadpool_interop
} // namespace quern

#endif // QUERN_THREADPOOL_IFACE_HPP
