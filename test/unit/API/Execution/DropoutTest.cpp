//===- DropoutTest.cpp - Dropout through the API --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests dropout with real kernels: mask and result agree, also in place and from host scalars, and the refusals.
//
//===----------------------------------------------------------------------===//
#include "API/Execution/ReorderSupport.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace quern {
namespace {

using dt = memory::data_type;

class DropoutExecution : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  stream order{device};
  memory::desc md{{5, 33}, dt::f32, "ab"}, maskDesc{{5, 33}, dt::u8, "ab"}, one{{1}, dt::f32, "a"};
  std::vector<float> source = std::vector<float>(200, 3.0f), result = std::vector<float>(200, -1.0f);
  std::vector<uint8_t> bits = std::vector<uint8_t>(2000, 77);
  float probability = 0.5f;
  int64_t seed = 7, offset = 9;
  memory p{one, device, &probability};
  memory seedMemory{memory::desc({1}, dt::s64, "a"), device, &seed},
      offsetMemory{memory::desc({1}, dt::s64, "a"), device, &offset};

  eltwise_forward::primitive_desc relu(const memory::desc &mask, bool isOnHost = false) {
    primitive_attr attr;
    attr.set_dropout(mask, dt::s64, true, isOnHost);
    return {device, prop_kind::forward_training, algorithm::eltwise_relu, md, md, 0, 0, attr};
  }
  std::unordered_map<int, memory> arguments(const memory &src, const memory &dst, const memory &mask) {
    return {{QUERN_ARG_SRC, src},
            {QUERN_ARG_DST, dst},
            {QUERN_ARG_ATTR_DROPOUT_MASK, mask},
            {QUERN_ARG_ATTR_DROPOUT_PROBABILITY, p},
            {QUERN_ARG_ATTR_DROPOUT_SEED, seedMemory},
            {QUERN_ARG_ATTR_DROPOUT_OFFSET, offsetMemory}};
  }
  /// Expects twice the source where the mask is 1, and 0 elsewhere.
  void expectScaled(const float *values, const uint8_t *mask) {
    EXPECT_EQ(std::count(mask, mask + 165, 1) + std::count(mask, mask + 165, 0), 165);
    EXPECT_GT(std::count(mask, mask + 165, 1), 50);
    EXPECT_GT(std::count(mask, mask + 165, 0), 50);
    for (size_t i = 0; i < 165; ++i)
      ASSERT_EQ(values[i], mask[i] ? 6.0f : 0.0f) << i;
  }
  void expectRefused(const std::unordered_map<int, memory> &args, const char *why) {
    const eltwise_forward kernel(relu(maskDesc));
    EXPECT_EQ(test::statusOf([&] { kernel.execute(order, args); }), quern_invalid_arguments) << why;
    EXPECT_NE(std::string(quern_get_last_error_message()).find(why), std::string::npos)
        << quern_get_last_error_message();
  }
};

TEST_F(DropoutExecution, MaskAndResultAgree) {
  memory src(md, device, source.data()), dst(md, device, result.data());
  for (size_t start : {size_t(0), size_t(1)}) { // a mask may start at any byte
    std::fill(bits.begin(), bits.end(), uint8_t(77));
    const eltwise_forward kernel(relu(maskDesc));
    kernel.execute(order, arguments(src, dst, memory(maskDesc, device, bits.data() + start)));
    expectScaled(result.data(), bits.data() + start);
    EXPECT_EQ(bits[start + 165], 77);
    EXPECT_EQ(result[165], -1.0f);
  }
  const std::vector<float> withMask = result;
  eltwise_forward(relu(memory::desc())).execute(order, arguments(src, dst, memory(maskDesc, device, bits.data())));
  EXPECT_EQ(result, withMask) << "the results do not depend on whether a mask is written";
  eltwise_forward(relu(maskDesc)).execute(order, arguments(src, src, memory(maskDesc, device, bits.data())));
  expectScaled(source.data(), bits.data());
}

TEST_F(DropoutExecution, HostScalars) {
  memory src(md, device, source.data()), dst(md, device, result.data());
  p = memory(memory::desc::host_scalar(dt::f32), probability);
  seedMemory = memory(memory::desc::host_scalar(dt::s64), seed);
  offsetMemory = memory(memory::desc::host_scalar(dt::s64), offset);
  eltwise_forward(relu(maskDesc, true)).execute(order, arguments(src, dst, memory(maskDesc, device, bits.data())));
  expectScaled(result.data(), bits.data());
}

TEST_F(DropoutExecution, Queries) {
  const eltwise_forward::primitive_desc desc = relu(maskDesc);
  EXPECT_EQ(quern_primitive_desc_query_s32(desc.get(), quern_query_num_of_inputs_s32, 0), 1);
  EXPECT_EQ(quern_primitive_desc_query_s32(desc.get(), quern_query_num_of_outputs_s32, 0), 1);
  const auto argument = [&](int index) {
    return quern_primitive_desc_query_md(desc.get(), quern_query_exec_arg_md, index);
  };
  EXPECT_TRUE(quern_memory_desc_equal(argument(QUERN_ARG_ATTR_DROPOUT_MASK), maskDesc.get()));
  EXPECT_TRUE(quern_memory_desc_equal(argument(QUERN_ARG_ATTR_DROPOUT_PROBABILITY), one.get()));
  EXPECT_TRUE(quern_memory_desc_equal(argument(QUERN_ARG_ATTR_DROPOUT_SEED), memory::desc({1}, dt::s64, "a").get()));
}

TEST_F(DropoutExecution, RefusesOverlappingAndMissingArguments) {
  memory src(md, device, source.data()), dst(md, device, result.data()), mask(maskDesc, device, bits.data());
  const auto bytes = [](std::vector<float> &values) { return reinterpret_cast<uint8_t *>(values.data()); };
  expectRefused(arguments(src, dst, memory(maskDesc, device, bytes(source) + 5)), "dropout.mask overlaps src");
  expectRefused(arguments(src, dst, memory(maskDesc, device, bytes(result) + 500)), "dst overlaps dropout.mask");
  expectRefused(arguments(src, dst, memory(maskDesc, device, &seed)), "dropout.mask overlaps dropout.seed");
  memory p(one, device, result.data());
  std::unordered_map<int, memory> args = arguments(src, dst, mask);
  args[QUERN_ARG_ATTR_DROPOUT_PROBABILITY] = p;
  expectRefused(args, "dst overlaps dropout.probability");
  for (int index : {QUERN_ARG_ATTR_DROPOUT_PROBABILITY, QUERN_ARG_ATTR_DROPOUT_SEED, QUERN_ARG_ATTR_DROPOUT_OFFSET,
                    QUERN_ARG_ATTR_DROPOUT_MASK}) {
    args = arguments(src, dst, mask);
    args.erase(index);
    expectRefused(args, "is missing (eltwise C12)");
  }
  args = arguments(src, dst, mask);
  args[QUERN_ARG_ATTR_DROPOUT_SEED] = memory(memory::desc({1}, dt::s32, "a"), device, &seed);
  expectRefused(args, "argument 511 (dropout.seed) is s32:1:a; the primitive takes s64:1:a");
  EXPECT_EQ(result[0], -1.0f) << "a refused execution writes nothing";
}

} // namespace
} // namespace quern
