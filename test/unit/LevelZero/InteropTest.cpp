//===- InteropTest.cpp - Programs that use Level Zero themselves ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LevelZero/DeviceArtifacts.h"
#include "support/TestDriver.h"

#include "quern/quern_ze.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

using namespace quern;
using namespace quern::test;
using testing::HasSubstr;
using testing::Not;

namespace {

#define ASSERT_OK(call) ASSERT_EQ(call, ZE_RESULT_SUCCESS)
#define ASSERT_DONE(call) ASSERT_EQ(call, quern_success) << quern_get_last_error_message()

/// Objects of the program: a context, an immediate list, an event and shared memory.
class Interop : public testing::Test {
protected:
  void SetUp() override {
    (void)engine::get_count(engine::kind::gpu); // the library finds devices once and keeps them
    uint32_t one = 1;
    ASSERT_OK(zeInit(0));
    ASSERT_OK(zeDriverGet(&one, &driver));
    ASSERT_OK(zeDeviceGet(driver, &one, &device));
    objects = driverObjects();
    const ze_context_desc_t contextDesc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ASSERT_OK(zeContextCreate(driver, &contextDesc, &context));
    ASSERT_OK(zeCommandListCreateImmediate(context, device, &queueDesc, &list));
    const ze_event_pool_desc_t poolDesc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
    ASSERT_OK(zeEventPoolCreate(context, &poolDesc, 1, &device, &pool));
    const ze_event_desc_t eventDesc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                                    ZE_EVENT_SCOPE_FLAG_HOST};
    ASSERT_OK(zeEventCreate(pool, &eventDesc, &before));
    const ze_device_mem_alloc_desc_t onDevice{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    const ze_host_mem_alloc_desc_t onHost{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    for (float **memory : {&source, &result})
      ASSERT_OK(
          zeMemAllocShared(context, &onDevice, &onHost, 4 * rowBytes, 64, device, reinterpret_cast<void **>(memory)));
    for (int i = 0; i < 4 * rowLength; ++i)
      source[i] = static_cast<float>(i), result[i] = -1;
  }

  /// Checks that the library destroyed none of the program's objects and leaked none of its own.
  void TearDown() override {
    EXPECT_EQ(zeMemFree(context, source), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeMemFree(context, result), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventDestroy(before), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeEventPoolDestroy(pool), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandListDestroy(list), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeContextDestroy(context), ZE_RESULT_SUCCESS);
    EXPECT_EQ(driverObjects(), objects);
  }

  /// Returns src and dst in the program's memory.
  std::unordered_map<int, memory> memoriesOf(const DeviceRun &run, const engine &on) {
    std::unordered_map<int, memory> made;
    for (auto [argument, pointer] : {std::pair(QUERN_ARG_SRC, source), std::pair(QUERN_ARG_DST, result)}) {
      quern_memory_t handle = nullptr;
      void *buffers[] = {pointer};
      error::wrap_c_api(quern_ze_interop_memory_create(&handle, run.desc.src_desc().get(), on.get(), 1, buffers),
                        "memory");
      made[argument].reset(handle);
    }
    return made;
  }

  static constexpr ze_command_queue_desc_t queueDesc{
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  int64_t objects = 0;
  ze_driver_handle_t driver{};
  ze_device_handle_t device{};
  ze_context_handle_t context{};
  ze_command_list_handle_t list{};
  ze_event_pool_handle_t pool{};
  ze_event_handle_t before{};
  float *source = nullptr, *result = nullptr;
};

TEST_F(Interop, AnExecutionIsOrderedByEvents) {
  quern_engine_t made = nullptr;
  ASSERT_DONE(quern_ze_interop_engine_create(&made, driver, device, context));
  engine gpu;
  gpu.reset(made);
  ze_driver_handle_t itsDriver{};
  ze_device_handle_t itsDevice{};
  ze_context_handle_t itsContext{};
  ASSERT_DONE(quern_ze_interop_engine_get_driver(made, &itsDriver));
  ASSERT_DONE(quern_ze_interop_engine_get_device(made, &itsDevice));
  ASSERT_DONE(quern_ze_interop_engine_get_context(made, &itsContext));
  EXPECT_TRUE(itsDriver == driver && itsDevice == device && itsContext == context);
  struct {
    std::string line;
    DeviceRun::Maker make;
    float sum;
  } const cases[] = {{softmaxLine("4"), addOne, 1},
                     {softmaxLine("4"), addTwoByRows, 2},
                     {reorderLine("4", "dst_engine=gpu attr.post_ops=eltwise(alg=linear,alpha=1)"), addTwoByRows, 2},
                     {reorderLine("4", "dst_engine=gpu"), nullptr, 0}};
  for (bool isLent : {true, false})
    for (const auto &each : cases) {
      DeviceRun run(gpu, each.line, each.make);
      quern_stream_t handle = nullptr;
      if (isLent)
        ASSERT_DONE(quern_ze_interop_stream_create(&handle, made, list, 1));
      else
        ASSERT_DONE(quern_stream_create(&handle, made, quern_stream_in_order));
      stream order;
      order.reset(handle);
      ze_command_list_handle_t itsList{};
      ASSERT_DONE(quern_ze_interop_stream_get_list(handle, &itsList));
      EXPECT_EQ(itsList == list, isLent);
      std::fill_n(result, 4 * rowLength, -1.0f);
      ASSERT_OK(zeEventHostReset(before));
      auto memories = memoriesOf(run, gpu);
      if (run.src.get_engine().get_kind() == engine::kind::cpu) {
        run.fill();
        memories[QUERN_ARG_SRC] = run.src;
      }
      const quern_exec_arg_t arguments[] = {{QUERN_ARG_SRC, memories.at(QUERN_ARG_SRC).get()},
                                            {QUERN_ARG_DST, memories.at(QUERN_ARG_DST).get()}};
      ze_event_handle_t after{};
      ASSERT_DONE(quern_ze_interop_primitive_execute(run.kernel.get(), handle, 2, arguments, 1, &before, &after));
      EXPECT_EQ(zeEventHostSynchronize(after, 3000000), ZE_RESULT_NOT_READY);
      EXPECT_EQ(result[0], -1);
      ASSERT_OK(zeEventHostSignal(before));
      ASSERT_OK(zeEventHostSynchronize(after, UINT64_MAX));
      for (int i = 0; i < 4 * rowLength; ++i)
        ASSERT_EQ(result[i], static_cast<float>(i) + each.sum);
      order.wait();
    }
}

TEST_F(Interop, TheCppInterfaceMatchesTheCInterface) {
  const engine gpu = ze_interop::make_engine(driver, device, context);
  EXPECT_TRUE(ze_interop::get_driver(gpu) == driver && ze_interop::get_device(gpu) == device &&
              ze_interop::get_context(gpu) == context);
  DeviceRun run(gpu, softmaxLine("4"), addOne);
  const memory::desc rows = run.desc.src_desc();
  const memory src = ze_interop::make_memory(rows, gpu, source), between = ze_interop::make_memory(rows, gpu),
               dst = ze_interop::make_memory(rows, gpu, std::vector<void *>{result});
  const stream order = ze_interop::make_stream(gpu, list, true);
  EXPECT_EQ(ze_interop::get_list(order), list);
  const ze_event_handle_t half =
      ze_interop::execute(run.kernel, order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, between}}, {before});
  const ze_event_handle_t all =
      ze_interop::execute(run.kernel, order, {{QUERN_ARG_SRC, between}, {QUERN_ARG_DST, dst}}, {half});
  EXPECT_EQ(zeEventHostSynchronize(all, 3000000), ZE_RESULT_NOT_READY);
  ASSERT_OK(zeEventHostSignal(before));
  ASSERT_OK(zeEventHostSynchronize(all, UINT64_MAX));
  for (int i = 0; i < 4 * rowLength; ++i)
    ASSERT_EQ(result[i], static_cast<float>(i + 2));
}

TEST_F(Interop, AnEngineIsRestoredFromItsCacheBlob) {
  const std::vector<uint8_t> id = ze_interop::get_engine_cache_blob_id(driver, device);
  std::vector<uint8_t> blob;
  {
    const engine first = ze_interop::make_engine(driver, device, context);
    blob = ze_interop::get_engine_cache_blob(first);
    size_t few = 3;
    EXPECT_EQ(quern_ze_interop_engine_get_cache_blob(first.get(), &few, blob.data()), quern_invalid_arguments);
  }
  const engine again = ze_interop::make_engine(driver, device, context, blob);
  EXPECT_EQ(ze_interop::get_engine_cache_blob(again), blob);
  EXPECT_EQ(ze_interop::get_engine_cache_blob_id(driver, device), id);
  blob[id.size() / 2] ^= 1;
  EXPECT_THROW(ze_interop::make_engine(driver, device, context, blob), error);
  EXPECT_THROW(ze_interop::make_engine(driver, device, context, std::vector<uint8_t>{1, 2}), error);
  EXPECT_THROW(ze_interop::get_engine_cache_blob(engine(engine::kind::cpu, 0)), error);
}

/// The driver fails if a kernel runs with freed memory.
TEST_F(Interop, MemoryIsFreedAfterItsLastUse) {
  const engine gpu = ze_interop::make_engine(driver, device, context);
  DeviceRun run(gpu, softmaxLine("4"), addOne);
  const stream order(gpu);
  auto between = std::make_unique<memory>(run.desc.src_desc(), gpu);
  const memory src = ze_interop::make_memory(run.desc.src_desc(), gpu, source),
               dst = ze_interop::make_memory(run.desc.src_desc(), gpu, result);
  ze_interop::execute(run.kernel, order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, *between}}, {before});
  run.kernel.execute(order, {{QUERN_ARG_SRC, *between}, {QUERN_ARG_DST, dst}});
  std::atomic<bool> isGone{false};
  std::thread destroys([&] {
    between.reset();
    isGone = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(isGone) << "nothing has run yet";
  EXPECT_EQ(zeEventHostSignal(before), ZE_RESULT_SUCCESS);
  destroys.join();
  stream(order).wait();
  for (int i = 0; i < 4 * rowLength; ++i)
    ASSERT_EQ(result[i], static_cast<float>(i + 2));
}

/// The driver loses the device if a recording refers to freed memory, even if its address is in use again.
TEST_F(Interop, OtherMemoryAtTheSameAddressIsRecordedAgain) {
  const engine gpu = ze_interop::make_engine(driver, device, context);
  DeviceRun run(gpu, softmaxLine("4"), addTwoByRows);
  stream order(gpu);
  const memory dst = ze_interop::make_memory(run.desc.dst_desc(), gpu, result);
  const ze_device_mem_alloc_desc_t onDevice{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  for (int i = 0; i < 8; ++i) {
    void *pointer = nullptr;
    ASSERT_OK(zeMemAllocDevice(context, &onDevice, 4 * rowBytes, 64, device, &pointer));
    memory src = ze_interop::make_memory(run.desc.src_desc(), gpu, pointer);
    auto *values = src.map_data<float>();
    std::fill_n(values, 4 * rowLength, static_cast<float>(i));
    src.unmap_data(values);
    run.kernel.execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
    order.wait();
    EXPECT_EQ(result[4 * rowLength - 1], static_cast<float>(i + 2));
    ASSERT_OK(zeMemFree(context, pointer));
  }
}

/// The barrier of a failed wait is reached while a later wait is for more commands.
TEST_F(Interop, AWaitCoversAllEarlierWork) {
  const engine gpu = ze_interop::make_engine(driver, device, context);
  DeviceRun run(gpu, softmaxLine("4"), addOne);
  const memory src = ze_interop::make_memory(run.desc.src_desc(), gpu, source),
               dst = ze_interop::make_memory(run.desc.src_desc(), gpu, result);
  stream order(gpu);
  ze_event_handle_t later{};
  const ze_event_desc_t second{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 1, ZE_EVENT_SCOPE_FLAG_HOST,
                               ZE_EVENT_SCOPE_FLAG_HOST};
  ASSERT_OK(zeEventCreate(pool, &second, &later));
  ze_interop::execute(run.kernel, order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, run.dst}}, {before});
  failDriverCall(2, ZE_RESULT_NOT_READY); // after the call that appends the barrier
  EXPECT_THAT(messageOf([&] { order.wait(); }), HasSubstr("zeEventHostSynchronize() returned ZE_RESULT_NOT_READY"));
  ze_interop::execute(run.kernel, order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}}, {later});
  std::atomic<bool> isSignaled{false};
  std::thread signals([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    zeEventHostSignal(before);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    isSignaled = true;
    zeEventHostSignal(later);
  });
  for (int i = 0; i < 2; ++i) {
    order.wait();
    EXPECT_TRUE(isSignaled);
  }
  signals.join();
  EXPECT_EQ(result[5], 6);
  EXPECT_EQ(zeEventDestroy(later), ZE_RESULT_SUCCESS);
}

/// Returns 0 if each wait on a device that was lost during a kernel reports it, and objects can still be released.
int loseTheDevice(ze_driver_handle_t driver, ze_device_handle_t device, ze_context_handle_t context,
                  ze_event_handle_t before) {
  const engine gpu = ze_interop::make_engine(driver, device, context);
  const DeviceRun run(gpu, softmaxLine("4"), addOne);
  void *freed = run.src.get_data_handle();
  const stream order(gpu);
  ze_interop::execute(run.kernel, order, run.arguments, {before});
  zeMemFree(context, freed); // forbidden to programs, because the kernel has not run
  zeEventHostSignal(before);
  for (int i = 0; i < 2; ++i)
    if (quern_stream_wait(order.get()) != quern_runtime_error ||
        std::string(quern_get_last_error_message()).find("ZE_RESULT_ERROR_DEVICE_LOST") == std::string::npos)
      return 1;
  return quern_primitive_execute(run.kernel.get(), order.get(), 0, nullptr) == quern_invalid_arguments ? 0 : 2;
}

TEST_F(Interop, ALostDeviceIsAnErrorAtEveryWait) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a separate process: a lost device is not recovered
  EXPECT_EXIT(std::_Exit(loseTheDevice(driver, device, context, before)), testing::ExitedWithCode(0),
              "the device is lost");
}

#ifdef QUERN_TEST_HAS_COMPILER

/// TearDown() detects objects of the context that a cache has kept.
TEST_F(Interop, NothingOfABorrowedContextIsKept) {
  const engine gpu = ze_interop::make_engine(driver, device, context);
  const primitive_desc desc(gpu, softmaxLine("4"));
  const memory src = ze_interop::make_memory(desc.src_desc(), gpu), dst = ze_interop::make_memory(desc.dst_desc(), gpu);
  src.unmap_data(src.map_data<float>());
  stream order(gpu);
  const primitive kernel(desc);
  EXPECT_NE(kernel.info().origin, quern_origin_none);
  kernel.execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
  order.wait();
  EXPECT_EQ(primitive(primitive_desc(gpu, softmaxLine("4"))).info().origin, quern_origin_memory);
}

/// Vectors of bytes are accessed if both sides start at a word; bytes outside of the tensors do not change.
TEST_F(Interop, MemoryMayBeginAnywhere) {
  constexpr size_t rows = 256, columns = 260, count = rows * columns, around = 16;
  const engine gpu = ze_interop::make_engine(driver, device, context);
  stream order(gpu);
  const ze_device_mem_alloc_desc_t onDevice{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  const ze_host_mem_alloc_desc_t onHost{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  uint8_t *from = nullptr, *to = nullptr;
  for (uint8_t **memory : {&from, &to})
    ASSERT_OK(
        zeMemAllocShared(context, &onDevice, &onHost, count + around, 64, device, reinterpret_cast<void **>(memory)));
  for (bool isTransposed : {false, true}) {
    const primitive_desc desc(gpu, std::string("reorder src=u8:256x260:ab dst=u8:256x260:") +
                                       (isTransposed ? "ba" : "ab") + " attr.post_ops=eltwise(alg=linear,alpha=1)");
    const primitive kernel(desc);
    for (auto [src, dst] : {std::pair<size_t, size_t>(0, 0), {4, 8}, {1, 0}, {0, 3}, {2, 2}}) {
      for (size_t i = 0; i < count + around; ++i)
        from[i] = static_cast<uint8_t>(i * 7 + i / 256), to[i] = 0xee;
      kernel.execute(order, {{QUERN_ARG_SRC, ze_interop::make_memory(desc.src_desc(), gpu, from + src)},
                             {QUERN_ARG_DST, ze_interop::make_memory(desc.dst_desc(), gpu, to + dst)}});
      order.wait();
      std::vector<uint8_t> wanted(count + around, 0xee);
      for (size_t i = 0; i < count; ++i)
        wanted[dst + (isTransposed ? i % columns * rows + i / columns : i)] = from[src + i];
      EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), to)) << src << ", " << dst;
    }
  }
  ASSERT_OK(zeMemFree(context, from));
  ASSERT_OK(zeMemFree(context, to));
}

#endif // QUERN_TEST_HAS_COMPILER

TEST_F(Interop, NullIsRefusedByName) {
  const engine gpu = ze_interop::make_engine(driver, device, context);
  const DeviceRun run(gpu, softmaxLine("4"), addOne);
  const stream order(gpu);
  const memory::desc tensor = run.desc.src_desc();
  const const_quern_memory_desc_t desc = tensor.get();
  const quern_engine_t e = gpu.get();
  const quern_stream_t s = order.get();
  const quern_exec_arg_t arguments[] = {{QUERN_ARG_SRC, run.src.get()}, {QUERN_ARG_DST, run.dst.get()}};
  const ze_event_handle_t noEvents[] = {before, nullptr};
  uint8_t blob[1] = {};
  size_t size = 0;
  struct Made {
    quern_engine_t engine;
    quern_stream_t stream;
    quern_memory_t memory;
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_driver_handle_t driver;
    ze_command_list_handle_t list;
    ze_event_handle_t event;
  } made{};
  const std::pair<const char *, std::function<quern_status_t()>> calls[] = {
      {"engine", [&] { return quern_ze_interop_engine_create(nullptr, driver, device, context); }},
      {"driver", [&] { return quern_ze_interop_engine_create(&made.engine, nullptr, device, context); }},
      {"device", [&] { return quern_ze_interop_engine_create(&made.engine, driver, nullptr, context); }},
      {"context", [&] { return quern_ze_interop_engine_create(&made.engine, driver, device, nullptr); }},
      {"driver", [&] { return quern_ze_interop_engine_get_cache_blob_id(nullptr, device, &size, nullptr); }},
      {"device", [&] { return quern_ze_interop_engine_get_cache_blob_id(driver, nullptr, &size, nullptr); }},
      {"size", [&] { return quern_ze_interop_engine_get_cache_blob_id(driver, device, nullptr, nullptr); }},
      {"engine", [&] { return quern_ze_interop_engine_get_cache_blob(nullptr, &size, nullptr); }},
      {"size", [&] { return quern_ze_interop_engine_get_cache_blob(e, nullptr, nullptr); }},
      {"engine",
       [&] { return quern_ze_interop_engine_create_from_cache_blob(nullptr, driver, device, context, 1, blob); }},
      {"driver",
       [&] { return quern_ze_interop_engine_create_from_cache_blob(&made.engine, nullptr, device, context, 1, blob); }},
      {"device",
       [&] { return quern_ze_interop_engine_create_from_cache_blob(&made.engine, driver, nullptr, context, 1, blob); }},
      {"context",
       [&] { return quern_ze_interop_engine_create_from_cache_blob(&made.engine, driver, device, nullptr, 1, blob); }},
      {"cache_blob",
       [&] {
         return quern_ze_interop_engine_create_from_cache_blob(&made.engine, driver, device, context, 1, nullptr);
       }},
      {"engine", [&] { return quern_ze_interop_engine_get_context(nullptr, &made.context); }},
      {"context", [&] { return quern_ze_interop_engine_get_context(e, nullptr); }},
      {"engine", [&] { return quern_ze_interop_engine_get_device(nullptr, &made.device); }},
      {"device", [&] { return quern_ze_interop_engine_get_device(e, nullptr); }},
      {"engine", [&] { return quern_ze_interop_engine_get_driver(nullptr, &made.driver); }},
      {"driver", [&] { return quern_ze_interop_engine_get_driver(e, nullptr); }},
      {"stream", [&] { return quern_ze_interop_stream_create(nullptr, e, list, 0); }},
      {"engine", [&] { return quern_ze_interop_stream_create(&made.stream, nullptr, list, 0); }},
      {"list", [&] { return quern_ze_interop_stream_create(&made.stream, e, nullptr, 0); }},
      {"stream", [&] { return quern_ze_interop_stream_get_list(nullptr, &made.list); }},
      {"list", [&] { return quern_ze_interop_stream_get_list(s, nullptr); }},
      {"memory", [&] { return quern_ze_interop_memory_create(nullptr, desc, e, 0, nullptr); }},
      {"memory_desc", [&] { return quern_ze_interop_memory_create(&made.memory, nullptr, e, 0, nullptr); }},
      {"engine", [&] { return quern_ze_interop_memory_create(&made.memory, desc, nullptr, 0, nullptr); }},
      {"handles", [&] { return quern_ze_interop_memory_create(&made.memory, desc, e, 1, nullptr); }},
      {"primitive", [&] { return quern_ze_interop_primitive_execute(nullptr, s, 0, nullptr, 0, nullptr, nullptr); }},
      {"stream",
       [&] { return quern_ze_interop_primitive_execute(run.kernel.get(), nullptr, 0, nullptr, 0, nullptr, nullptr); }},
      {"args",
       [&] { return quern_ze_interop_primitive_execute(run.kernel.get(), s, 2, nullptr, 0, nullptr, nullptr); }},
      {"deps",
       [&] { return quern_ze_interop_primitive_execute(run.kernel.get(), s, 2, arguments, 1, nullptr, nullptr); }},
      {"deps[1]",
       [&] { return quern_ze_interop_primitive_execute(run.kernel.get(), s, 2, arguments, 2, noEvents, &made.event); }},
  };
  for (const auto &[name, call] : calls) {
    EXPECT_EQ(call(), quern_invalid_arguments) << name;
    EXPECT_THAT(quern_get_last_error_message(), HasSubstr(std::string(name) + " is null"));
  }
  EXPECT_TRUE(!made.engine && !made.stream && !made.memory && !made.event);
  // Empty lists may be null.
  EXPECT_EQ(quern_ze_interop_primitive_execute(run.kernel.get(), s, 2, arguments, 0, nullptr, nullptr), quern_success);
  EXPECT_EQ(quern_ze_interop_primitive_execute(run.kernel.get(), s, 0, nullptr, 0, nullptr, nullptr),
            quern_invalid_arguments);
  EXPECT_THAT(quern_get_last_error_message(), Not(HasSubstr("is null")));
}

TEST_F(Interop, MismatchingHandlesAreRefused) {
  quern_engine_t made = nullptr;
  ASSERT_DONE(quern_ze_interop_engine_create(&made, driver, device, context));
  engine gpu;
  gpu.reset(made);
  const engine other(engine::kind::gpu, 0), cpu(engine::kind::cpu, 0);
  const DeviceRun run(gpu, softmaxLine("4"), addOne);
  const stream order(other);
  const auto refusal = [](quern_status_t status) {
    return std::string(quern_status_name(status)) + ": " + quern_get_last_error_message();
  };
  ze_context_handle_t itsContext{};
  EXPECT_THAT(refusal(quern_ze_interop_engine_get_context(cpu.get(), &itsContext)), HasSubstr("the engine is a cpu"));
  EXPECT_THAT(refusal(quern_ze_interop_engine_create(&made, driver, device, nullptr)), HasSubstr("context is null"));
  quern_stream_t handle = nullptr;
  EXPECT_THAT(refusal(quern_ze_interop_stream_create(&handle, gpu.get(), nullptr, 0)), HasSubstr("list is null"));
  // Memory and streams of one context cannot be used with another.
  const auto memories = memoriesOf(run, gpu);
  const quern_exec_arg_t arguments[] = {{QUERN_ARG_SRC, memories.at(QUERN_ARG_SRC).get()},
                                        {QUERN_ARG_DST, memories.at(QUERN_ARG_DST).get()}};
  EXPECT_THAT(refusal(quern_primitive_execute(run.kernel.get(), order.get(), 2, arguments)),
              HasSubstr("another engine"));
  const DeviceRun there(other, softmaxLine("4"), addOne);
  EXPECT_THAT(refusal(quern_primitive_execute(there.kernel.get(), order.get(), 2, arguments)),
              HasSubstr("is on another device"));
  // A closed command list is reported when it is used.
  const ze_command_list_desc_t listDesc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
  ze_command_list_handle_t closed{};
  ASSERT_OK(zeCommandListCreate(context, device, &listDesc, &closed));
  ASSERT_OK(zeCommandListClose(closed));
  {
    ASSERT_DONE(quern_ze_interop_stream_create(&handle, gpu.get(), closed, 0));
    stream onClosed;
    onClosed.reset(handle);
    EXPECT_THAT(refusal(quern_primitive_execute(run.kernel.get(), handle, 2, arguments)),
                HasSubstr("ZE_RESULT_ERROR_INVALID_ARGUMENT"));
  }
  ASSERT_OK(zeCommandListDestroy(closed));
}

} // namespace
