//===- CrossEngineTest.cpp - Reorders between engines ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LevelZero/DeviceArtifacts.h"
#include "support/TestDriver.h"

#include "quern/quern_ze.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

using namespace quern;
using namespace quern::test;
using testing::HasSubstr;

namespace {

// A post-op makes these reorders run a kernel instead of a copy.
const char *const fromHost = "dst_engine=gpu attr.post_ops=eltwise(alg=linear,alpha=1)";
const char *const toHost = "src_engine=gpu attr.post_ops=eltwise(alg=linear,alpha=1)";

/// The first device in a separate context: to the library, another device.
class OtherDevice {
public:
  OtherDevice() {
    uint32_t one = 1;
    ze_driver_handle_t driver{};
    ze_device_handle_t device{};
    const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    quern_engine_t made = nullptr;
    EXPECT_EQ(zeInit(0), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeDriverGet(&one, &driver), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeDeviceGet(driver, &one, &device), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeContextCreate(driver, &desc, &context), ZE_RESULT_SUCCESS);
    EXPECT_EQ(quern_ze_interop_engine_create(&made, driver, device, context), quern_success)
        << quern_get_last_error_message();
    gpu.reset(made);
  }
  ~OtherDevice() {
    gpu.reset(nullptr);
    EXPECT_EQ(zeContextDestroy(context), ZE_RESULT_SUCCESS);
  }
  engine gpu;

private:
  ze_context_handle_t context{};
};

std::vector<float> valuesOf(const memory &from) {
  auto *elements = from.map_data<float>();
  std::vector<float> values(elements, elements + from.get_desc().get_size() / sizeof(float));
  from.unmap_data(elements);
  return values;
}

void setAll(const memory &to, const std::function<float(size_t)> &value) {
  auto *elements = to.map_data<float>();
  for (size_t i = 0; i < to.get_desc().get_size() / sizeof(float); ++i)
    elements[i] = value(i);
  to.unmap_data(elements);
}

TEST(LevelZero, AReorderCrossesEnginesInEveryKindOfStream) {
  const engine device(engine::kind::gpu, 0);
  for (auto flags :
       {stream::flags::in_order, stream::flags::out_of_order, stream::flags::in_order | stream::flags::profiling}) {
    stream order(device, flags);
    std::vector<DeviceRun> runs;
    for (int i = 0; i < 12; ++i) { // growing sizes, which share the staging memory between host and device
      runs.emplace_back(device, reorderLine(std::to_string(1 + 20 * i), i / 2 % 2 ? toHost : fromHost),
                        i % 2 ? addTwoByRows : addOne);
      runs.back().fill(static_cast<float>(100 * i));
      runs.back().execute(order);
    }
    order.wait();
    for (size_t i = 0; i < runs.size(); ++i)
      EXPECT_EQ(runs[i].wrong(i % 2 ? plusTwo : plusOne), 0u) << i;
    runs[1].fill(7);
    runs[1].execute(order); // replays the recording
    order.wait();
    EXPECT_EQ(runs[1].wrong(plusTwo), 0u);
  }
}

TEST(LevelZero, AReorderAcrossEnginesIsInOrderWithItsNeighbors) {
  const engine device(engine::kind::gpu, 0);
  DeviceRun there(device, reorderLine("64", fromHost), addOne), between(device, softmaxLine("64"), addTwoByRows),
      back(device, reorderLine("64", toHost), addOne);
  EXPECT_EQ(there.src.get_engine().get_kind(), engine::kind::cpu);
  EXPECT_EQ(back.dst.get_engine().get_kind(), engine::kind::cpu);
  there.fill();
  stream order(device);
  there.execute(order);
  between.kernel.execute(order, {{QUERN_ARG_SRC, there.dst}, {QUERN_ARG_DST, between.dst}});
  back.kernel.execute(order, {{QUERN_ARG_SRC, between.dst}, {QUERN_ARG_DST, back.dst}});
  order.wait();
  const std::vector<float> values = valuesOf(back.dst);
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<float>(i) + 4) << i;
}

TEST(LevelZero, AReorderAcrossEnginesHasOneTime) {
  const engine device(engine::kind::gpu, 0);
  stream order(device, stream::flags::in_order | stream::flags::profiling);
  DeviceRun step(device, reorderLine("100", fromHost), addOne),
      program(device, reorderLine("10", toHost), addTwoByRows);
  const primitive copy(primitive_desc(device, reorderLine("100", "dst_engine=gpu")));
  step.fill();
  program.fill();
  step.execute(order);
  program.execute(order);
  copy.execute(order, step.arguments);
  int count = 0;
  ASSERT_EQ(quern_query_profiling_data(order.get(), quern_profiling_data_kind_time, &count, nullptr), quern_success);
  ASSERT_EQ(count, 3);
  uint64_t times[3] = {};
  ASSERT_EQ(quern_query_profiling_data(order.get(), quern_profiling_data_kind_time, &count, times), quern_success);
  for (uint64_t ns : times)
    EXPECT_GT(ns, 0u);
  EXPECT_EQ(step.wrong([](float x) { return x; }) + program.wrong(plusTwo), 0u);
}

TEST(LevelZero, TheSameLayoutIsCopiedWithoutAKernel) {
  const engine device(engine::kind::gpu, 0), cpu(engine::kind::cpu, 0);
  const memory::desc plain({4, 16}, memory::data_type::f32, "ab");
  const memory host(plain, cpu), there(plain, device), back(plain, cpu);
  setAll(host, [](size_t i) { return static_cast<float>(i); });
  stream order(device);
  const reorder up(host, there), down(there, back);
  EXPECT_EQ(up.info().origin, quern_origin_none);
  EXPECT_THAT(messageOf([&] { up.get_cache_blob(); }), HasSubstr("only copies"));
  up.execute(order, host, there);
  down.execute(order, there, back);
  order.wait();
  EXPECT_EQ(valuesOf(back), valuesOf(host));
  const reorder::primitive_desc desc(cpu, plain, device, plain);
  EXPECT_EQ(desc.get_src_engine().get(), cpu.get());
  EXPECT_EQ(desc.get_dst_engine().get(), device.get());
  quern_engine_t runsOn = nullptr;
  ASSERT_EQ(quern_primitive_desc_query(desc.get(), quern_query_engine, 0, &runsOn), quern_success);
  EXPECT_EQ(runsOn, device.get());
}

TEST(LevelZero, AReorderGoesToAnotherDevice) {
  const engine device(engine::kind::gpu, 0);
  const OtherDevice other;
  const memory::desc plain({40, 16}, memory::data_type::f32, "ab");
  primitive_attr attr;
  post_ops linear;
  linear.append_eltwise(algorithm::eltwise_linear, 1, 0);
  attr.set_post_ops(linear);
  for (bool hasKernel : {false, true})
    for (bool isThere : {false, true}) {
      const engine &from = isThere ? other.gpu : device, &to = isThere ? device : other.gpu;
      const memory src(plain, from), dst(plain, to);
      setAll(src, [](size_t i) { return static_cast<float>(i); });
      stream order(from);
      const reorder::primitive_desc desc(from, plain, to, plain, hasKernel ? attr : primitive_attr());
      const reorder moved =
          hasKernel
              ? reorder(desc, blobOf(from, reorderLine("40", "attr.post_ops=eltwise(alg=linear,alpha=1)"), addOne))
              : reorder(desc);
      const ze_event_handle_t after = ze_interop::execute(moved, order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
      EXPECT_EQ(zeEventHostSynchronize(after, UINT64_MAX), ZE_RESULT_SUCCESS);
      const std::vector<float> values = valuesOf(dst);
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(values[i], static_cast<float>(i + (hasKernel ? 1 : 0))) << i;
    }
}

TEST(LevelZero, MemoryOfTheWrongEngineIsRefused) {
  const engine device(engine::kind::gpu, 0), cpu(engine::kind::cpu, 0);
  DeviceRun run(device, reorderLine("4", fromHost), addOne);
  const memory onDevice(run.desc.src_desc(), device), onHost(run.desc.src_desc(), cpu);
  stream order(device), ofHost(cpu);
  const auto refusal = [&](const stream &where, const memory &src, const memory &dst) {
    return messageOf([&] { run.kernel.execute(where, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}}); });
  };
  EXPECT_THAT(refusal(order, onDevice, onDevice),
              HasSubstr("argument 1 (src) is on another kind of engine than the primitive has it"));
  EXPECT_THAT(refusal(order, onHost, onHost),
              HasSubstr("argument 17 (dst) is on another kind of engine than the stream"));
  EXPECT_THAT(refusal(ofHost, onHost, onDevice), HasSubstr("the stream is of another engine"));
  const engine alsoHost(engine::kind::cpu, 0);
  const memory onOther(run.desc.src_desc(), alsoHost); // alive until the device has copied it
  EXPECT_EQ(refusal(order, onOther, onDevice), "") << "all CPU engines are equivalent";
  order.wait();
}

#ifdef QUERN_TEST_HAS_COMPILER

TEST(LevelZero, GapsInHostMemoryAreNotChanged) {
  const engine device(engine::kind::gpu, 0);
  const primitive_desc desc(device, "reorder src=f32:4x16:ab dst=f32:4x16:s20x1:off3 src_engine=gpu");
  const memory src(desc.src_desc(), device), dst(desc.dst_desc(), engine(engine::kind::cpu, 0));
  setAll(src, [](size_t i) { return static_cast<float>(i); });
  setAll(dst, [](size_t) { return -1.0f; });
  stream order(device);
  primitive(desc).execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
  order.wait();
  const std::vector<float> values = valuesOf(dst);
  ASSERT_GE(values.size(), 3u + 3 * 20 + 16);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = (i - 3) / 20, column = (i - 3) % 20;
    EXPECT_EQ(values[i], i >= 3 && row < 4 && column < 16 ? static_cast<float>(row * 16 + column) : -1.0f) << i;
  }
}

/// dst = 2·dst + src · scale, with dst on the host, computed by the device with a caller-owned scratchpad.
TEST(LevelZero, AReorderAcrossEnginesTakesAttributes) {
  const engine device(engine::kind::gpu, 0), cpu(engine::kind::cpu, 0);
  primitive_attr attr;
  attr.set_scales_mask(QUERN_ARG_SRC, 0);
  attr.set_scratchpad_mode(scratchpad_mode::user);
  post_ops sum;
  sum.append_sum(2);
  attr.set_post_ops(sum);
  const memory::desc rows({5, 16}, memory::data_type::f32, "ab"), columns({5, 16}, memory::data_type::f32, "ba");
  const reorder::primitive_desc desc(device, rows, cpu, columns, attr);
  const memory src(rows, device), dst(columns, cpu), scale(memory::desc({1}, memory::data_type::f32, "a"), device),
      onHost(memory::desc({1}, memory::data_type::f32, "a"), cpu), scratchpad(desc.scratchpad_desc(), device);
  setAll(src, [](size_t i) { return static_cast<float>(i); });
  setAll(dst, [](size_t i) { return static_cast<float>(i % 7); });
  setAll(scale, [](size_t) { return 3.0f; });
  setAll(onHost, [](size_t) { return 3.0f; });
  stream order(device);
  std::unordered_map<int, memory> arguments = {{QUERN_ARG_SRC, src},
                                               {QUERN_ARG_DST, dst},
                                               {QUERN_ARG_SCRATCHPAD, scratchpad},
                                               {QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC, onHost}};
  const reorder kernel(desc);
  EXPECT_THAT(messageOf([&] { kernel.execute(order, arguments); }),
              HasSubstr("is on another kind of engine than the stream"));
  arguments[QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC] = scale;
  kernel.execute(order, arguments);
  order.wait();
  const std::vector<float> values = valuesOf(dst);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 2.0f * static_cast<float>(i % 7) + 3.0f * static_cast<float>(i % 5 * 16 + i / 5)) << i;
}

#endif // QUERN_TEST_HAS_COMPILER

} // namespace
