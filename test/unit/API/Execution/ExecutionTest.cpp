//===- ExecutionTest.cpp - Executions that are refused --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests real primitives of every kind with each argument missing in turn, and with sizes that do not match. The message
// names the argument and the constraint, and nothing is written. SharedBytesTest.cpp tests overlapping arguments.
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace quern {
namespace {

constexpr int known[] = {QUERN_ARG_SRC,
                         QUERN_ARG_SRC_1,
                         QUERN_ARG_SRC_2,
                         QUERN_ARG_DST,
                         QUERN_ARG_DST_1,
                         QUERN_ARG_DST_2,
                         QUERN_ARG_WEIGHTS,
                         QUERN_ARG_WEIGHTS_1,
                         QUERN_ARG_BIAS,
                         QUERN_ARG_MULTIPLE_SRC,
                         QUERN_ARG_MULTIPLE_SRC + 1,
                         97,
                         98,
                         QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC};

class Executions : public testing::Test {
protected:
  struct Given {
    int argument;
    memory::desc desc;
  };
  /// Returns the arguments of a problem whose sizes are known.
  std::vector<Given> argumentsOf(const std::string &line) {
    const primitive_desc desc(device, line);
    std::vector<Given> all;
    for (int argument : known)
      if (const memory::desc md = desc.query_md(query::exec_arg_md, argument); !md.is_zero())
        all.push_back({argument, md});
    return all;
  }
  /// Returns the message of a refused execution and checks that no byte has changed. Tensors that are too large to
  /// allocate get a buffer of 1 MiB.
  std::string refusal(const primitive &made, const std::vector<Given> &arguments) {
    std::vector<std::vector<char>> buffers;
    std::unordered_map<int, memory> tensors;
    for (const Given &one : arguments) {
      constexpr size_t maxBytes = 1 << 20;
      buffers.emplace_back(std::min(one.desc.get_size(), maxBytes), 0x55);
      tensors.emplace(one.argument, memory(one.desc, device, buffers.back().data()));
    }
    EXPECT_EQ(test::statusOf([&] { made.execute(order, tensors); }), quern_invalid_arguments);
    for (const std::vector<char> &buffer : buffers)
      EXPECT_TRUE(std::ranges::all_of(buffer, [](char c) { return c == 0x55; }));
    return quern_get_last_error_message();
  }

  engine device{engine::kind::cpu, 0};
  stream order{device};
};

const std::string gru = "rnn fwd_i cell=gru direction=left2right src_layer=f32:4x2x8:abc src_iter=f32:1x1x2x8:abcd "
                        "weights_layer=f32:1x1x8x3x8:abcde weights_iter=f32:1x1x8x3x8:abcde bias=f32:1x1x3x8:abcd "
                        "dst_layer=f32:4x2x8:abc dst_iter=f32:1x1x2x8:abcd";

TEST_F(Executions, RefuseMissingArguments) {
  const std::pair<std::string, std::string> lines[] = {
      {"softmax fwd_i alg=accurate src=f32:4x8:ab dst=f32:4x8:ab axis=1 attr.scales=src", " is missing (softmax C27)"},
      {"eltwise fwd_i alg=tanh src=f32:4x8:ab dst=f32:4x8:ab", " is missing (eltwise C12)"},
      {"binary alg=add src=f32:4x8:ab src1=f32:4x8:ab dst=f32:4x8:ab", " is missing (binary C12)"},
      {"reorder src=f32:4x8:ab dst=s8:4x8:ba attr.scales=src", " is missing (reorder C13)"},
      {"sum scales=1,2 srcs=f32:4x8:ab,f32:4x8:ab dst=f32:4x8:ab", " is missing (sum C7)"},
      {"concat axis=0 srcs=f32:4x8:ab,f32:2x8:ab dst=f32:6x8:ab", " is missing (concat C9)"},
      {"gemm src=f32:4x8:ab weights=f32:8x5:ab dst=f32:4x5:ab alpha=true beta=true", " is missing (gemm C10)"},
      {gru, " is missing (rnn C29)"},
  };
  for (const auto &[line, words] : lines) {
    const primitive made(primitive_desc(device, line));
    const std::vector<Given> all = argumentsOf(line);
    ASSERT_GE(all.size(), 2u) << line;
    for (size_t left = 0; left < all.size(); ++left) {
      std::vector<Given> fewer = all;
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(left));
      const std::string message = refusal(made, fewer), which = "argument " + std::to_string(all[left].argument) + " (";
      EXPECT_EQ(message.find(which), 0u) << line << ": " << message;
      EXPECT_NE(std::string(quern_get_last_error_message()).find(words), std::string::npos) << line << ": " << message;
    }
  }
}

/// Rows: a problem with open sizes, sizes of an execution, and words of the expected message.
TEST_F(Executions, RefuseSizesThatDoNotFit) {
  struct Misfit {
    std::string open, given, words;
  };
  const std::string before = "rnn fwd_i cell=gru direction=left2right src_layer=f32:",
                    weights = "weights_layer=f32:1x1x8x3x8:abcde weights_iter=f32:1x1x8x3x8:abcde dst_layer=f32:";
  const std::string wide = before + "?x?x?:abc weights_layer=f32:1x1x?x3x?:abcde weights_iter=f32:1x1x?x3x?:abcde "
                                    "dst_layer=f32:?x?x?:abc";
  const std::pair<Misfit, std::string> lines[] = {
      {{"softmax fwd_i src=f32:?x8:ab dst=f32:?x8:ab axis=1", "src=4x8 dst=5x8", "dim 0 of dst is 5, of src 4"},
       "(softmax C29)"},
      {{"softmax fwd_i src=f32:?x8:ab dst=f32:?x8:ab axis=1", "src=4x9 dst=4x9", "dim 1 of src is 9"}, "(softmax C29)"},
      {{"gemm src=f32:?x?:ab weights=f32:?x?:ab dst=f32:?x?:ab", "src=4x8 weights=9x5 dst=4x5",
        "dim 1 of src is 8; dim 0 of weights is 9"},
       "(gemm C12)"},
      {{"gemm src=f32:?x?:ab weights=f32:?x?:ab dst=f32:?x?:ab", "src=4x8 weights=8x5 dst=3x5",
        "dim 0 of src is 4; dim 0 of dst is 3"},
       "(gemm C12)"},
      {{before + "?x?x8:abc " + weights + "?x?x8:abc", "src=4x2x8 weights=1x1x8x3x8 weights1=1x1x8x3x8 dst=5x2x8",
        "dim 0 of dst_layer is 5"},
       "(rnn C31)"},
      {{before + "?x?x8:abc " + weights + "?x?x8:abc", "src=4x2x8 weights=1x1x8x3x8 weights1=1x1x8x3x8 dst=4x3x8",
        "dim 1 of dst_layer is 3"},
       "(rnn C31)"},
      {{before + "?x?x8:abc src_iter=f32:1x1x?x8:abcd " + weights + "?x?x8:abc",
        "src=4x2x8 src1=1x1x1x8 weights=1x1x8x3x8 weights1=1x1x8x3x8 dst=4x2x8",
        "dim 2 of src_iter is 1; N of src_layer is 2"},
       "(rnn C31)"},
      {{before + "?x?x8:abc seq_lengths=s32:?:a " + weights + "?x?x8:abc",
        "src=4x2x8 lengths=1 weights=1x1x8x3x8 weights1=1x1x8x3x8 dst=4x2x8", "dim 0 of seq_lengths is 1"},
       "(rnn C31)"},
      {{"rnn fwd_t" + before.substr(9) + "?x?x8:abc " + weights + "?x?x8:abc",
        "src=4x2x8 weights=1x1x8x3x8 weights1=1x1x8x3x8 dst=4x2x8 workspace=768",
        "workspace has 768 bytes; for T = 4 and N = 2 it must have 832"},
       "(rnn C31)"},
      {{"rnn fwd_t" + before.substr(9) + "?x?x8:abc " + weights + "?x?x8:abc",
        "src=2147483648x1x8 weights=1x1x8x3x8 weights1=1x1x8x3x8 dst=2147483648x1x8 workspace=768",
        "T = 2147483648 and N = 1 are open sizes; training supports at most 2147483647 for each"},
       "(rnn C31)"},
      {{wide, "src=4x2x8 weights=1x1x9x3x8 weights1=1x1x8x3x8 dst=4x2x8",
        "dim 2 of src_layer is 8; it must be 9, SLC of weights_layer"},
       "(rnn C31)"},
      {{wide, "src=4x2x8 weights=1x1x8x3x8 weights1=1x1x8x3x8 dst=4x2x9", "dim 2 of dst_layer is 9; it must be 8"},
       "(rnn C31)"},
  };
  const std::map<std::string, int> indices = {{"src", QUERN_ARG_SRC},
                                              {"src1", QUERN_ARG_SRC_ITER},
                                              {"dst", QUERN_ARG_DST},
                                              {"weights", QUERN_ARG_WEIGHTS},
                                              {"weights1", QUERN_ARG_WEIGHTS_1},
                                              {"lengths", QUERN_ARG_SEQ_LENGTHS},
                                              {"workspace", QUERN_ARG_WORKSPACE}};
  for (const auto &[misfit, number] : lines) {
    const primitive made(primitive_desc(device, misfit.open));
    std::vector<Given> all;
    std::istringstream words(misfit.given);
    for (std::string word; words >> word;) {
      const std::string name = word.substr(0, word.find('='));
      memory::dims dims;
      std::istringstream sizes(word.substr(name.size() + 1));
      for (std::string size; std::getline(sizes, size, 'x');)
        dims.push_back(std::stoll(size));
      const auto type = name == "lengths"     ? memory::data_type::s32
                        : name == "workspace" ? memory::data_type::u8
                                              : memory::data_type::f32;
      all.push_back({indices.at(name), memory::desc(dims, type, std::string("abcde").substr(0, dims.size()))});
    }
    const std::string message = refusal(made, all);
    EXPECT_NE(message.find(misfit.words), std::string::npos) << message;
    EXPECT_NE(std::string(quern_get_last_error_message()).find(number), std::string::npos) << message;
  }
}

} // namespace
} // namespace quern
