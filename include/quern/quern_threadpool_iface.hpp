//===- quern/quern_threadpool_iface.hpp - Interface of a thread pool -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A program implements this interface to run kernels on its own threads, and passes it with quern_threadpool.h.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_THREADPOOL_IFACE_HPP
#define QUERN_THREADPOOL_IFACE_HPP

#include <cstdint>
#include <functional>

namespace quern {
namespace threadpool_interop {

/// Interface of a thread pool on which kernels run.
struct threadpool_iface {
  /// Returns the number of threads that run closures concurrently, including the caller of parallel_for() if it takes
  /// part. At least 1.
  virtual int get_num_threads() const = 0;
  /// Returns true if the calling thread belongs to the pool. A kernel that it starts runs only on that thread.
  virtual bool get_in_parallel() const = 0;
  /// Calls fn(i, n) once for each i in [0, n), on any thread, in any order.
  virtual void parallel_for(int n, const std::function<void(int, int)> &fn) = 0;
  /// Returns 0, or ASYNCHRONOUS if parallel_for() may return before the closures have run.
  virtual uint64_t get_flags() const = 0;
  /// Waits until the closures of every earlier parallel_for() have run.
  virtual void wait() = 0;
  /// Flag of get_flags().
  static constexpr uint64_t ASYNCHRONOUS = 1;
  virtual ~threadpool_iface() = default;
};

} // namespace threadpool_interop
} // namespace quern

#endif // QUERN_THREADPOOL_IFACE_HPP
