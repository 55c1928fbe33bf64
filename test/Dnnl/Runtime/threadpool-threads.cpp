// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks streams on a pool with the program's own threads, one that waits for its closures and one that does not: every
// closure runs once, on threads of the pool, and the results are those of an ordinary stream. No packaged build of
// oneDNN supports such streams.
//
// REQUIRES: onednn-3.13
// RUN: %ours %s %t | FileCheck %s
// CHECK: waiting pool: same 1, on its threads 1
// CHECK-NEXT: asynchronous pool: same 1, on its threads 1
// CHECK-NEXT: inside a closure: same 1
// CHECK-NEXT: concurrency 1: same 1
// CHECK-NEXT: no pool: same 1
#include "values.hpp"

#include "oneapi/dnnl/dnnl_threadpool.h"
#include "oneapi/dnnl/dnnl_threadpool_iface.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

/// Four threads that take closures from one queue.
class Pool : public threadpool_interop::threadpool_iface {
public:
  explicit Pool(bool isAsynchronous) : isAsynchronous(isAsynchronous) {
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([this] { work(); });
  }
  ~Pool() override {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isOver = true;
    }
    changed.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  int get_num_threads() const override { return 4; }
  bool get_in_parallel() const override { return isInside; }
  uint64_t get_flags() const override { return isAsynchronous ? ASYNCHRONOUS : 0; }
  void parallel_for(int count, const std::function<void(int, int)> &body) override {
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (int i = 0; i < count; ++i)
        queue.push_back([body, i, count] { body(i, count); });
      waiting += count;
    }
    changed.notify_all();
    if (!isAsynchronous)
      wait();
  }
  void wait() override {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return waiting == 0; });
  }

  std::atomic<int> closures{0};

private:
  void work() {
    isInside = true;
    for (std::unique_lock<std::mutex> lock(mutex);;) {
      changed.wait(lock, [this] { return isOver || !queue.empty(); });
      if (queue.empty())
        return;
      const std::function<void()> closure = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      closure();
      ++closures;
      lock.lock();
      if (--waiting == 0)
        changed.notify_all();
    }
  }

  static thread_local bool isInside;
  const bool isAsynchronous;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  std::vector<std::thread> threads;
  int waiting = 0;
  bool isOver = false;
};
thread_local bool Pool::isInside = false;

engine eng(engine::kind::cpu, 0);

/// Computes softmax of a tensor that is large enough for several threads, then transposes it; returns all values.
std::vector<float> run(stream strm) {
  const memory::desc data({512, 700}, type::f32, tag::ab), turned({512, 700}, type::f32, tag::ba);
  memory src = makeMemory(eng, data, 1), middle(data, eng), dst(turned, eng);
  softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, algorithm::softmax_accurate, data, data, 1);
  softmax_forward(desc).execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, middle}});
  reorder(middle, dst).execute(strm, middle, dst);
  strm.wait();
  return read<float>(dst);
}

stream streamOn(Pool *pool) {
  dnnl_stream_t handle = nullptr;
  error::wrap_c_api(dnnl_threadpool_interop_stream_create(&handle, eng.get(), pool), "could not create a stream");
  return stream(handle);
}

} // namespace

int main() {
  const std::vector<float> expected = run(stream(eng));
  for (bool isAsynchronous : {false, true}) {
    Pool pool(isAsynchronous);
    const bool same = run(streamOn(&pool)) == expected;
    std::printf("%s pool: same %d, on its threads %d\n", isAsynchronous ? "asynchronous" : "waiting", same,
                pool.closures > 0);
  }
  Pool pool(false);
  std::vector<float> inside;
  pool.parallel_for(1, [&](int, int) { inside = run(streamOn(&pool)); });
  std::printf("inside a closure: same %d\n", inside == expected);
  dnnl_threadpool_interop_set_max_concurrency(1);
  std::printf("concurrency 1: same %d\n", run(streamOn(&pool)) == expected);
  std::printf("no pool: same %d\n", run(streamOn(nullptr)) == expected);
  return 0;
}
