// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a stream on the program's own pool, which no packaged build of oneDNN supports. The pool runs every closure on
// the calling thread, in reverse order.
//
// REQUIRES: onednn-3.13
// RUN: %ours %s %t | FileCheck %s
// CHECK: same pool 1
// CHECK-NEXT: same result 1
// CHECK-NEXT: used 1
// CHECK-NEXT: concurrency 3
#include "values.hpp"

#include "oneapi/dnnl/dnnl_threadpool.h"
#include "oneapi/dnnl/dnnl_threadpool_iface.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

struct Pool : threadpool_interop::threadpool_iface {
  int get_num_threads() const override { return 3; }
  bool get_in_parallel() const override { return false; }
  void parallel_for(int count, const std::function<void(int, int)> &body) override {
    ++calls;
    for (int i = count; i-- > 0;)
      body(i, count);
  }
  uint64_t get_flags() const override { return 0; }
  void wait() override {}
  int calls = 0;
};

static std::vector<float> run(engine &eng, const stream &strm) {
  const memory::desc data({512, 300}, type::f32, tag::ab);
  softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, algorithm::softmax_accurate, data, data, 1);
  memory src = makeMemory(eng, data, 1), dst(data, eng);
  softmax_forward(desc).execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
  return read<float>(dst);
}

int main() {
  engine eng(engine::kind::cpu, 0);
  Pool pool;
  dnnl_stream_t handle = nullptr;
  void *kept = nullptr;
  dnnl_threadpool_interop_stream_create(&handle, eng.get(), &pool);
  dnnl_threadpool_interop_stream_get_threadpool(handle, &kept);
  std::printf("same pool %d\n", kept == &pool);
  const std::vector<float> expected = run(eng, stream(eng)), onPool = run(eng, stream(handle));
  std::printf("same result %d\n", expected == onPool);
  std::printf("used %d\n", pool.calls > 0);
  int threads = 0;
  dnnl_threadpool_interop_set_max_concurrency(3);
  dnnl_threadpool_interop_get_max_concurrency(&threads);
  std::printf("concurrency %d\n", threads);
  return 0;
}
