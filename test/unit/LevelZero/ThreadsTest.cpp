//===- ThreadsTest.cpp - A device used by several threads -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that threads may share engines, primitives and streams. With ThreadSanitizer, these tests run on an OpenCL that
// is instrumented.
//
//===----------------------------------------------------------------------===//
#include "LevelZero/DeviceArtifacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

using namespace quern;
using namespace quern::test;

namespace {

constexpr int threadCount = 4;

/// Runs `body` on threads that start together; an exception of a thread is a failure.
void onThreads(const std::function<void(int thread)> &body) {
  std::barrier start(threadCount);
  std::vector<std::thread> threads;
  for (int i = 0; i < threadCount; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      EXPECT_EQ(messageOf([&] { body(i); }), "");
    });
  for (std::thread &each : threads)
    each.join();
}

/// Thread-owned memory for a problem that other threads also execute.
struct Tensors {
  Tensors(const DeviceRun &run, const engine &device)
      : src(run.desc.src_desc(), device), dst(run.desc.dst_desc(), device) {}
  void fill(float first) const {
    auto *elements = src.map_data<float>();
    for (size_t i = 0; i < src.get_desc().get_size() / sizeof(float); ++i)
      elements[i] = first + static_cast<float>(i);
    src.unmap_data(elements);
  }
  void execute(const DeviceRun &run, stream &order) const {
    run.kernel.execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
  }
  /// Checks the first and the last element.
  void expect(float first) const {
    const auto *elements = dst.map_data<float>();
    const size_t last = dst.get_desc().get_size() / sizeof(float) - 1;
    EXPECT_EQ(elements[0], first);
    EXPECT_EQ(elements[last], first + static_cast<float>(last));
    dst.unmap_data(const_cast<float *>(elements));
  }
  memory src, dst;
};

/// A launch and a program that all threads execute.
struct Kernels {
  explicit Kernels(const engine &device)
      : step(device, softmaxLine("8"), addOne), program(device, softmaxLine("8"), addTwoByRows) {}
  DeviceRun step, program;
};

TEST(Threads, QueryDevicesConcurrently) {
  std::atomic<size_t> sum{0};
  onThreads([&](int) {
    sum += engine::get_count(engine::kind::gpu);
    const engine device(engine::kind::gpu, 0);
    stream(device).wait();
  });
  EXPECT_EQ(sum, threadCount * engine::get_count(engine::kind::gpu));
}

TEST(Threads, EachHasAStream) {
  const engine device(engine::kind::gpu, 0);
  const Kernels kernels(device);
  onThreads([&](int thread) {
    stream order(device, thread % 2 ? stream::flags::in_order : stream::flags::out_of_order);
    const Tensors tensors(kernels.step, device);
    for (int round = 0; round < 10; ++round) {
      const auto first = static_cast<float>(100 * thread + round);
      tensors.fill(first);
      for (int again = 0; again < 30; ++again) // threads set arguments of the same kernel
        tensors.execute(round % 2 ? kernels.program : kernels.step, order);
      order.wait();
      tensors.expect(first + (round % 2 ? 2.0f : 1.0f));
    }
  });
}

TEST(Threads, ShareAStream) {
  const engine device(engine::kind::gpu, 0);
  const Kernels kernels(device);
  stream order(device);
  onThreads([&](int thread) {
    for (int round = 0; round < 8; ++round) { // together, the threads record more than a stream keeps
      const Tensors tensors(kernels.program, device);
      const auto first = static_cast<float>(100 * thread + round);
      tensors.fill(first);
      for (int again = 0; again < 2; ++again)
        tensors.execute(kernels.program, order);
      order.wait();
      tensors.expect(first + 2);
      tensors.execute(kernels.step, order);
      order.wait();
      tensors.expect(first + 1);
    }
  });
}

TEST(Threads, FreeMemoryWhileStreamsRun) {
  const engine device(engine::kind::gpu, 0);
  const Kernels kernels(device);
  onThreads([&](int thread) {
    stream order(device);
    for (int round = 0; round < 10; ++round) {
      const Tensors kept(kernels.step, device);
      kept.fill(static_cast<float>(round));
      for (int i = 0; i < 3; ++i) { // no wait: memory is freed when the device no longer uses it
        const Tensors gone(kernels.step, device);
        gone.execute(thread % 2 ? kernels.program : kernels.step, order);
      }
      kept.execute(kernels.step, order);
      order.wait();
      kept.expect(static_cast<float>(round) + 1);
    }
  });
}

TEST(Threads, MakeStreamsAndPrimitives) {
  const engine device(engine::kind::gpu, 0);
  onThreads([&](int thread) {
    for (int round = 0; round < 5; ++round) {
      const Kernels kernels(device);
      const Tensors tensors(kernels.step, device);
      tensors.fill(static_cast<float>(thread));
      {
        stream order(device, stream::flags::in_order | stream::flags::profiling);
        tensors.execute(kernels.program, order);
        int count = 0;
        EXPECT_EQ(quern_query_profiling_data(order.get(), quern_profiling_data_kind_time, &count, nullptr),
                  quern_success);
        EXPECT_EQ(count, 1);
      } // waits for the stream
      tensors.expect(static_cast<float>(thread) + 2);
    }
  });
}

TEST(Threads, CrossEnginesOnOneStream) {
  const engine device(engine::kind::gpu, 0);
  stream order(device);
  onThreads([&](int thread) {
    DeviceRun there(device,
                    reorderLine(std::to_string(8 + thread), "dst_engine=gpu attr.post_ops=eltwise(alg=linear,alpha=1)"),
                    addOne),
        back(device,
             reorderLine(std::to_string(8 + thread), "src_engine=gpu attr.post_ops=eltwise(alg=linear,alpha=1)"),
             addTwoByRows);
    for (int round = 0; round < 5; ++round) {
      there.fill(static_cast<float>(10 * round));
      there.execute(order);
      back.kernel.execute(order, {{QUERN_ARG_SRC, there.dst}, {QUERN_ARG_DST, back.dst}});
      order.wait();
      EXPECT_EQ(back.result()[5], static_cast<float>(10 * round + 5 + 3));
    }
  });
}

} // namespace
