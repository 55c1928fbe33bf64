//===- RnnOpenTrainingTest.cpp - Training with open T and N ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests one kernel of forward and one of backward with several sizes: their workspaces are those of problems with these
// sizes, and are refused for others.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace quern {
namespace {

class RnnOpenTraining : public testing::Test {
protected:
  static std::string lineOf(const std::string &steps, const std::string &batch) {
    const std::string rows = "f32:" + steps + "x" + batch;
    return "cell=lbr_gru direction=left2right src_layer=" + rows +
           "x8:abc weights_layer=f32:1x1x8x3x8:abcde weights_iter=f32:1x1x8x3x8:abcde dst_layer=" + rows + "x8:abc";
  }
  static std::string gradientsOf(const std::string &steps, const std::string &batch) {
    const std::string rows = "f32:" + steps + "x" + batch + "x8:abc";
    return " diff_src_layer=" + rows + " diff_weights_layer=f32:1x1x8x3x8:abcde diff_dst_layer=" + rows;
  }

  struct Execution {
    std::unordered_map<int, memory> given;
  };
  /// Returns all tensors, with numbers between -1 and 1 and a workspace of `workspaceBytes` bytes.
  Execution of(int64_t steps, int64_t batch, int64_t workspaceBytes) {
    Execution all;
    auto add = [&](int index, const memory::desc &desc) {
      memory made(desc, device);
      auto *values = static_cast<float *>(made.get_data_handle());
      for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i)
        values[i] = static_cast<float>((i * 37 + static_cast<size_t>(index)) % 101) / 50 - 1;
      all.given.emplace(index, made);
    };
    for (int index : {QUERN_ARG_SRC_LAYER, QUERN_ARG_DST_LAYER, QUERN_ARG_DIFF_DST_LAYER, QUERN_ARG_DIFF_SRC_LAYER})
      add(index, memory::desc({steps, batch, 8}, memory::data_type::f32, "abc"));
    for (int index : {QUERN_ARG_WEIGHTS_LAYER, QUERN_ARG_WEIGHTS_ITER, QUERN_ARG_DIFF_WEIGHTS_LAYER})
      add(index, memory::desc({1, 1, 8, 3, 8}, memory::data_type::f32, "abcde"));
    add(QUERN_ARG_WORKSPACE, memory::desc({workspaceBytes}, memory::data_type::u8, "a"));
    return all;
  }
  /// Returns the bytes of the header, a section of gates and one of hidden sums; each section fills whole cache lines.
  static int64_t bytesOf(int64_t rows) { return 64 + (rows * 96 + 63) / 64 * 64 + (rows * 32 + 63) / 64 * 64; }

  quern_status_t execute(const primitive &kernel, Execution &all) {
    return test::statusOf([&] {
      kernel.execute(order, all.given);
      order.wait();
    });
  }
  void expectRefused(Execution &all, const std::string &words) {
    const memory &gradient = all.given.at(QUERN_ARG_DIFF_SRC_LAYER);
    const size_t bytes = gradient.get_desc().get_size();
    const std::string before(static_cast<const char *>(gradient.get_data_handle()), bytes);
    EXPECT_EQ(execute(backward, all), quern_invalid_arguments);
    const std::string message = quern_get_last_error_message();
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_EQ(before, std::string(static_cast<const char *>(gradient.get_data_handle()), bytes));
  }

  engine device{engine::kind::cpu, 0};
  stream order{device};
  primitive forward{primitive_desc(device, "rnn fwd_t " + lineOf("?", "?"))};
  primitive backward{primitive_desc(device, "rnn bwd " + lineOf("?", "?") + gradientsOf("?", "?"))};
};

// Forward with open sizes writes the same header to its workspace as forward with these sizes; it contains T and N.
TEST_F(RnnOpenTraining, WritesTheHeaderOfTheseSizes) {
  for (auto [steps, batch] : {std::pair<int64_t, int64_t>{1, 1}, {4, 2}, {70, 3}, {2, 1000}}) {
    Execution open = of(steps, batch, bytesOf(steps * batch)), known = of(steps, batch, bytesOf(steps * batch));
    const primitive same(primitive_desc(device, "rnn fwd_t " + lineOf(std::to_string(steps), std::to_string(batch))));
    ASSERT_EQ(execute(forward, open), quern_success) << quern_get_last_error_message();
    ASSERT_EQ(execute(same, known), quern_success) << quern_get_last_error_message();
    const auto *header = static_cast<const char *>(open.given.at(QUERN_ARG_WORKSPACE).get_data_handle());
    EXPECT_EQ(std::memcmp(header, known.given.at(QUERN_ARG_WORKSPACE).get_data_handle(), 64), 0);
    int64_t sizes[2];
    std::memcpy(sizes, header + 32, sizeof(sizes));
    EXPECT_EQ(sizes[0], steps);
    EXPECT_EQ(sizes[1], batch);
    EXPECT_EQ(execute(backward, open), quern_success) << quern_get_last_error_message();
    EXPECT_EQ(execute(backward, known), quern_success) << quern_get_last_error_message();
  }
}

// C50: T and N are exchanged, which has the same length. C31: another length. Nothing is written.
TEST_F(RnnOpenTraining, RefusesWorkspacesOfOtherSizes) {
  Execution exchanged = of(2, 4, bytesOf(8)), all = of(4, 2, bytesOf(8));
  ASSERT_EQ(execute(forward, exchanged), quern_success);
  ASSERT_EQ(execute(forward, all), quern_success);
  std::swap(exchanged.given.at(QUERN_ARG_WORKSPACE), all.given.at(QUERN_ARG_WORKSPACE));
  expectRefused(all, "was written by a forward execution of another problem (rnn C50)");
  for (int64_t bytes : {bytesOf(8) - 64, bytesOf(8) + 64}) {
    Execution other = of(4, 2, bytes);
    expectRefused(other, "for T = 4 and N = 2 it must have 1088 (rnn C31)");
  }
}

} // namespace
} // namespace quern
