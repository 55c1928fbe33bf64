//===- SharedBytesTest.cpp - Outputs that overlap other arguments ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests real kernels of every primitive with each output overlapping each other argument: exactly, one element later,
// and so that the last bytes of one are the first of the other. Either the primitive's page allows it and the result is
// the same as in separate buffers, or the execution is refused with the constraint's number and no byte changes.
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace quern {
namespace {

/// A problem, the constraint that a refusal cites, and the pairs of an output and the input that it may replace.
struct Case {
  std::string line, number;
  std::vector<std::pair<int, int>> inPlace;

  std::string primitive() const { return line.substr(0, line.find(' ')); }
  friend void PrintTo(const Case &problem, std::ostream *out) { *out << problem.primitive(); }
};

const std::string lstm =
    "rnn fwd_t cell=lstm direction=left2right src_layer=f32:3x5x40:abc src_iter=f32:1x1x5x40:abcd "
    "src_iter_c=f32:1x1x5x40:abcd weights_layer=f32:1x1x40x4x40:any weights_iter=f32:1x1x40x4x40:any "
    "bias=f32:1x1x4x40:abcd dst_layer=f32:3x5x40:abc dst_iter=f32:1x1x5x40:abcd dst_iter_c=f32:1x1x5x40:abcd";

constexpr int src = QUERN_ARG_SRC, src1 = QUERN_ARG_SRC_1, src2 = QUERN_ARG_SRC_2, dst = QUERN_ARG_DST,
              dst1 = QUERN_ARG_DST_1;
constexpr int dst2 = QUERN_ARG_DST_2, diffSrc = QUERN_ARG_DIFF_SRC, diffDst = QUERN_ARG_DIFF_DST,
              srcs = QUERN_ARG_MULTIPLE_SRC;

constexpr int operand(int position) { return QUERN_ARG_ATTR_MULTIPLE_POST_OP(position) | QUERN_ARG_SRC_1; }

const Case cases[] = {
    {"softmax fwd_i alg=accurate src=f32:9x67:ab dst=f32:9x67:ab axis=1", "(softmax C28)", {{dst, src}}},
    {"softmax fwd_i alg=log src=f32:9x67:ab dst=f32:9x67:ab axis=0", "(softmax C28)", {{dst, src}}},
    {"softmax fwd_i alg=accurate src=f32:?x67:ab dst=f32:?x67:ab axis=1", "(softmax C28)", {{dst, src}}},
    {"softmax fwd_i alg=accurate src=bf16:9x67:ab dst=f16:9x67:ab axis=1", "(softmax C28)", {}},
    {"softmax fwd_i alg=accurate src=f32:64x64:ab dst=bf16:64x64:ab axis=1", "(softmax C28)", {}},
    {"softmax fwd_i alg=log src=f32:16x16:ab dst=f32:16x16:ba axis=0", "(softmax C28)", {}},
    {"softmax fwd_i alg=accurate src=f32:1x67:ab dst=f32:1x67:ab axis=1 attr.scales=src,dst "
     "attr.post_ops=binary(alg=add,src1=f32:1x67:ab),binary(alg=mul,src1=s32:1x67:ab),binary(alg=mul,src1=f32:1x1:ab)",
     "(softmax C28)",
     {{dst, src}, {dst, operand(0)}}},
    {"softmax fwd_i alg=accurate src=f32:9x1x20000:abc dst=f32:9x1x20000:abc axis=2 "
     "attr.post_ops=binary(alg=add,src1=f32:9x1x20000:s20000x30000x1)",
     "(softmax C28)",
     {{dst, src}, {dst, operand(0)}}},
    {"softmax bwd_d alg=accurate dst=f32:9x67:ab diff_dst=f32:9x67:ab diff_src=f32:9x67:ab axis=1",
     "(softmax C28)",
     {{diffSrc, dst}, {diffSrc, diffDst}}},
    {"eltwise fwd_i alg=tanh src=f32:9x67:ab dst=f32:9x67:ab "
     "attr.post_ops=binary(alg=add,src1=f32:9x67:ab),binary(alg=sub,src1=f32:1x67:ab)",
     "(eltwise C13)",
     {{dst, src}, {dst, operand(0)}}},
    {"eltwise bwd_d alg=tanh src=f32:9x67:ab diff_dst=f32:9x67:ab diff_src=f32:9x67:ab",
     "(eltwise C13)",
     {{diffSrc, src}, {diffSrc, diffDst}}},
    {"binary alg=add src=f32:9x67:ab src1=s32:9x67:ab dst=f32:9x67:ab attr.scales=src",
     "(binary C13)",
     {{dst, src}, {dst, src1}}},
    {"binary alg=sub src=f32:1x1:ab src1=f32:1x1:ab dst=f32:1x1:ab attr.scales=src,src_1",
     "(binary C13)",
     {{dst, src}, {dst, src1}}},
    {"binary alg=select src=u8:9x68:ab src1=u8:9x68:ab src2=s8:9x68:ab dst=u8:9x68:ab",
     "(binary C13)",
     {{dst, src}, {dst, src1}, {dst, src2}}},
    {"reorder src=f32:9x67:ab dst=s32:9x67:ab attr.scales=src(mask=2) attr.zero_points=dst",
     "(reorder C14)",
     {{dst, src}}},
    {"reorder src=f32:9x67:ab dst=f32:9x67:ba attr.post_ops=sum(scale=0.5)", "(reorder C14)", {}},
    {"reorder src=f32:64:a dst=f32:64:a attr.scales=src(mask=1)", "(reorder C14)", {{dst, src}}},
    {"sum scales=1,2,3 srcs=f32:9x67:ab,s32:9x67:ab,bf16:9x67:ab dst=f32:9x67:ab",
     "(sum C8)",
     {{dst, srcs}, {dst, srcs + 1}}},
    {"concat axis=1 srcs=f32:9x60:ab,f32:9x7:ab dst=f32:9x67:ab", "(concat C10)", {}},
    {"concat axis=1 srcs=f32:9x67:ab dst=f32:9x67:ab attr.scales=srcs.0", "(concat C10)", {{dst, srcs}}},
    {"gemm src=f32:40x40:ab weights=f32:40x40:ab dst=f32:40x40:ab alpha=true beta=true", "(gemm C11)", {}},
    {"gemm src=s8:40x40:ab weights=s8:40x40:ab dst=s32:40x40:ab offsets=true dst_offset=column", "(gemm C11)", {}},
    {lstm, "(rnn C30)", {{dst1, src1}, {dst2, src2}}},
    {lstm + " attr.scratchpad=user", "(rnn C30)", {{dst1, src1}, {dst2, src2}}},
};

size_t sizeOf(quern_data_type_t type) { return quern_data_type_size(type); }

/// Fills the bytes with small numbers of the type.
void fill(char *bytes, size_t count, quern_data_type_t type, std::mt19937 &random) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = static_cast<uint32_t>(random());
    const float number = static_cast<float>(bits % 1000) / 500 - 1;
    const int32_t whole = static_cast<int32_t>(bits % 7) - 3;
    const uint16_t half = static_cast<uint16_t>(0x3800 + bits % 0x400);
    const void *value = type == quern_f32   ? static_cast<const void *>(&number)
                        : sizeOf(type) == 2 ? static_cast<const void *>(&half)
                                            : &whole;
    std::memcpy(bytes + i * sizeOf(type), value, sizeOf(type));
  }
}

class SharedBytes : public testing::TestWithParam<Case> {
protected:
  struct Argument {
    int index;
    memory::desc desc;
    size_t at; ///< offset in the arena, in bytes
    bool isWritten;
    size_t bytes() const { return desc.get_size(); }
  };

  SharedBytes() : kernel(primitive_desc(device, GetParam().line)) {
    std::string closed = GetParam().line;
    std::replace(closed.begin(), closed.end(), '?', '9');
    const primitive_desc desc(device, closed);
    const bool isBackward = !desc.query_md(quern_query_exec_arg_md, diffSrc).is_zero();
    std::vector<int> indices = {src, src1, src2, dst, dst1, dst2, diffSrc, diffDst};
    for (int tensor : {QUERN_ARG_WEIGHTS, QUERN_ARG_WEIGHTS_1, QUERN_ARG_BIAS, QUERN_ARG_WORKSPACE,
                       QUERN_ARG_SCRATCHPAD, 97, 98, 99, 100, 101, operand(0), operand(1), operand(2)})
      indices.push_back(tensor);
    for (int tensor : {srcs, srcs + 1, srcs + 2, QUERN_ARG_ATTR_SCALES | src, QUERN_ARG_ATTR_SCALES | src1,
                       QUERN_ARG_ATTR_SCALES | dst, QUERN_ARG_ATTR_SCALES | srcs, QUERN_ARG_ATTR_ZERO_POINTS | dst})
      indices.push_back(tensor);
    std::mt19937 random(1);
    for (int index : indices) {
      const memory::desc found = desc.query_md(quern_query_exec_arg_md, index);
      if (found.is_zero())
        continue;
      const bool isOutput = index == dst || index == dst1 || index == dst2;
      const bool isWritten =
          isBackward ? index == diffSrc : isOutput || index == QUERN_ARG_WORKSPACE || index == QUERN_ARG_SCRATCHPAD;
      arguments.push_back({index, found, arena.size() + margin, isWritten});
      arena.resize((arguments.back().at + found.get_size() + margin + 63) / 64 * 64);
      const auto type = static_cast<quern_data_type_t>(found.get_data_type());
      fill(arena.data() + arguments.back().at, found.get_size() / sizeOf(type), type, random);
    }
  }

  /// Runs on the arena. Argument `moved`, if not null, is at offset `at`.
  void execute(const Argument *moved, size_t at) {
    std::unordered_map<int, memory> given;
    for (const Argument &argument : arguments)
      given.emplace(argument.index,
                    memory(argument.desc, device, arena.data() + (&argument == moved ? at : argument.at)));
    kernel.execute(order, given);
  }

  bool isAllowed(const Argument &output, const Argument &input) const {
    const auto &pairs = GetParam().inPlace;
    return std::find(pairs.begin(), pairs.end(), std::pair(output.index, input.index)) != pairs.end();
  }

  /// Returns the bytes of `output` after a run without overlap, in which it starts as a copy of `input`.
  std::string resultWithoutOverlap(const Argument &output, const Argument &input) {
    const std::vector<char> before = arena;
    std::copy_n(before.begin() + static_cast<ptrdiff_t>(input.at), std::min(input.bytes(), output.bytes()),
                arena.begin() + static_cast<ptrdiff_t>(output.at));
    execute(nullptr, 0);
    std::string result(arena.data() + output.at, output.bytes());
    arena = before;
    return result;
  }

  void checkShared(const Argument &output, const Argument &other, size_t at) {
    const bool isExact = at == other.at && isAllowed(output, other);
    const std::string expected = isExact ? resultWithoutOverlap(output, other) : std::string();
    const std::string where = GetParam().line + ": argument " + std::to_string(output.index) + " " +
                              std::to_string(static_cast<int64_t>(at - other.at)) + " bytes behind " +
                              std::to_string(other.index);
    const std::vector<char> before = arena;
    const quern_status_t status = test::statusOf([&] { execute(&output, at); });
    if (isExact) {
      EXPECT_EQ(status, quern_success) << where;
      EXPECT_TRUE(std::string(arena.data() + at, output.bytes()) == expected)
          << where << ": the values differ from those in a separate buffer";
    } else {
      EXPECT_EQ(status, quern_invalid_arguments) << where;
      EXPECT_NE(std::string(quern_get_last_error_message()).find(GetParam().number), std::string::npos)
          << where << ": " << quern_get_last_error_message();
      EXPECT_TRUE(arena == before) << where << ": a refused execution wrote bytes";
    }
    arena = before;
  }

  static constexpr size_t margin = size_t(1) << 20;
  engine device{engine::kind::cpu, 0};
  stream order{device};
  primitive kernel;
  std::vector<Argument> arguments;
  std::vector<char> arena;
};

TEST_P(SharedBytes, AreRightOrRefused) {
  for (const Argument &output : arguments)
    for (const Argument &other : arguments) {
      if (!output.isWritten || &output == &other)
        continue;
      checkShared(output, other, other.at);
      if (other.bytes() > 4)
        checkShared(output, other, other.at + 4);
      checkShared(output, other, other.at + (other.bytes() - 1) / 4 * 4);
      checkShared(output, other, other.at - (output.bytes() - 1) / 4 * 4);
    }
}

INSTANTIATE_TEST_SUITE_P(Everything, SharedBytes, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.primitive() + std::to_string(info.index); });

} // namespace
} // namespace quern
