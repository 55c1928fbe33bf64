//===- RnnBackwardVerifyTest.cpp - The constraints of backward, by number --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the constraints of `rnn bwd`, its arguments and its packed weights; RnnVerifyTest.cpp tests forward.
//
//===----------------------------------------------------------------------===//
#include "RnnVerifySupport.h"

#include "Primitives/Rnn/Layouts.h"
#include "Primitives/Rnn/Shape.h"
#include "Primitives/Rnn/Workspace.h"

#include <algorithm>
#include <array>

using namespace quern;
using namespace quern::test;

namespace {

const std::string lstm = "rnn bwd cell=lstm direction=left2right ", gru = "rnn bwd cell=gru direction=left2right ";
const std::string layers = "src_layer=f32:2x3x4:abc dst_layer=f32:2x3x8:abc diff_dst_layer=f32:2x3x8:abc ";
const std::string ofSrc = "diff_src_layer=f32:2x3x4:any ";

/// An LSTM with every optional tensor.
const std::string everything =
    lstm + "src_layer=f32:2x3x4:any src_iter=f32:1x1x3x6:any src_iter_c=f32:1x1x3x8:any seq_lengths=s32:3:any "
           "weights_layer=f32:1x1x4x4x8:any weights_iter=f32:1x1x6x4x8:any weights_peephole=f32:1x1x3x8:any "
           "weights_projection=f32:1x1x8x6:any bias=f32:1x1x4x8:any dst_layer=f32:2x3x6:any dst_iter=f32:1x1x3x6:any "
           "dst_iter_c=f32:1x1x3x8:any diff_src_layer=f32:2x3x4:any diff_src_iter=f32:1x1x3x6:any "
           "diff_src_iter_c=f32:1x1x3x8:any diff_weights_layer=f32:1x1x4x4x8:any diff_weights_iter=f32:1x1x6x4x8:any "
           "diff_weights_peephole=f32:1x1x3x8:any diff_weights_projection=f32:1x1x8x6:any diff_bias=f32:1x1x4x8:any "
           "diff_dst_layer=f32:2x3x6:any diff_dst_iter=f32:1x1x3x6:any diff_dst_iter_c=f32:1x1x3x8:any ";

} // namespace

// Constraints C46 and C47, and those that forward also has.
TEST(RnnBackwardVerify, RefusesOtherTensors) {
  const std::string augru = "rnn bwd cell=augru direction=left2right ";
  const Refusal refusals[] = {
      {"C46", lstm + ofSrc + "src_layer=f32:2x3x4:abc dst_layer=f32:2x3x8:abc " + weights, invalid,
       "backward rnn needs diff_dst_layer, which is absent"},
      {"C46", lstm + ofSrc + "src_layer=f32:2x3x4:abc diff_dst_layer=f32:2x3x8:abc " + weights, invalid,
       "backward rnn needs dst_layer, which is absent"},
      {"C46", lstm + ofSrc + layers, invalid, "backward rnn needs weights_layer, which is absent"},
      {"C46", lstm + layers + weights, invalid, "backward rnn has no gradient to write"},
      {"C47", lstm + layers + weights + "diff_bias=f32:1x1x4x8:abcd", invalid, "diff_bias is given and bias is absent"},
      {"C47", lstm + layers + weights + "diff_src_iter=f32:1x1x3x8:abcd", invalid,
       "diff_src_iter is given and src_iter is absent"},
      {"C47", lstm + layers + weights + ofSrc + "diff_dst_iter_c=f32:1x1x3x8:abcd", invalid,
       "diff_dst_iter_c is given and dst_iter_c is absent"},
      {"C47", gru + layers + gruWeights + "diff_attention=f32:2x3x1:abc", invalid,
       "diff_attention is given and attention is absent"},
      {"C47", lstm + layers + weights + "diff_weights_projection=f32:1x1x8x8:abcd", invalid,
       "diff_weights_projection is given and weights_projection is absent"},
      {"C8", gru + layers + gruWeights + ofSrc + "weights_peephole=f32:1x1x3x8:abcd", invalid,
       "does not use weights_peephole"},
      {"C9", augru + layers + gruWeights + ofSrc, invalid, "needs attention"},
      {"C6", lstm + "flags=2 " + layers + weights + ofSrc, invalid, "flags are 2"},
  };
  expectAllRefused("rnn", refusals);
}

// Constraint C48.
TEST(RnnBackwardVerify, RefusesOtherDims) {
  const Refusal refusals[] = {
      {"C48", lstm + layers + weights + "diff_src_layer=f32:2x3x5:abc", invalid,
       "dim 2 of diff_src_layer is 5; it must be 4, as in src_layer"},
      {"C48", lstm + layers + weights + "diff_weights_iter=f32:1x1x8x4x9:abcde", invalid,
       "dim 4 of diff_weights_iter is 9; it must be 8"},
      {"C48", lstm + layers + weights + "diff_weights_layer=f32:1x4x4x8:abcd", invalid,
       "diff_weights_layer is of rank 4 and weights_layer of rank 5"},
      {"C20", lstm + layers + weights + ofSrc + "src_iter=f32:1x1x4x8:abcd src_iter_c=f32:1x1x3x8:abcd", invalid,
       "dim 2 of src_iter is 4"},
  };
  expectAllRefused("rnn", refusals);
  const std::string steps = "1000000000000000x100x";
  expectRefused(parsed(lstm + "src_layer=f32:" + steps + "4:abc dst_layer=f32:" + steps +
                       "8:abc diff_dst_layer=f32:" + steps + "8:abc diff_weights_layer=f32:1x1x4x4x8:any " + weights),
                unsupported, "(rnn C45)", "too large");
}

// Constraint C51, and those that forward also has.
TEST(RnnBackwardVerify, RefusesOtherTypesAndLayouts) {
  const std::string bf16 = lstm + "src_layer=bf16:2x3x4:abc dst_layer=bf16:2x3x8:abc weights_layer=bf16:1x1x4x4x8:any "
                                  "weights_iter=bf16:1x1x8x4x8:any ";
  const Refusal refusals[] = {
      {"C51", bf16 + "diff_dst_layer=f32:2x3x8:abc diff_src_layer=bf16:2x3x4:abc", unsupported,
       "diff_src_layer of type bf16; it is for f32"},
      {"C51", bf16 + "diff_dst_layer=bf16:2x3x8:abc diff_src_layer=f32:2x3x4:abc", unsupported,
       "diff_dst_layer of type bf16; it is for f32"},
      {"C36",
       lstm + "src_layer=u8:2x3x4:abc weights_layer=s8:1x1x4x4x8:any weights_iter=s8:1x1x8x4x8:any "
              "dst_layer=u8:2x3x8:abc diff_dst_layer=f32:2x3x8:abc diff_src_layer=f32:2x3x4:abc",
       unsupported, "src_layer of type u8 with propagation kind bwd"},
      {"C38", lstm + layers + weights + "diff_src_layer=f32:2x3x4:s12x4x?", unsupported,
       "training if stride 2 of diff_src_layer is known only at execution"},
      {"C38", lstm + layers + weights + "diff_weights_iter=f32:1x1x8x4x8:s?x256x32x8x1", unsupported,
       "training if stride 0 of diff_weights_iter is known only at execution"},
      {"C38", lstm + layers + weights + "diff_src_layer=f32:2x3x4:s12x4x1:off?", unsupported,
       "training if the offset of diff_src_layer is known only at execution"},
      {"C25", lstm + layers + weights + "diff_src_layer=f32:2x3x4:s4x0x1", invalid,
       "diff_src_layer has stride 0 over dim 1"},
      {"C40", lstm + layers + weights + "diff_weights_iter=f32:1x1x8x4x8:abdEc16e", unsupported,
       "diff_weights_iter with inner blocks; it must be plain"},
      {"C42", lstm + layers + weights + ofSrc + "attr.post_ops=eltwise(alg=relu)", unsupported,
       "does not support post-ops"},
      {"C32", lstm + layers + ofSrc + "weights_layer=f32:1x1x4x4x8:any weights_iter=f32:1x1x8x4x8:abdEc8e", unsupported,
       "backward rnn is not implemented for weights_iter of layout abdEc8e, packed for forward"},
      {"C32",
       "rnn fwd_t cell=lstm direction=left2right src_layer=f32:2x3x4:abc dst_layer=f32:2x3x8:abc "
       "weights_layer=f32:1x1x4x4x8:any weights_iter=f32:1x1x8x4x8:abCde8c",
       unsupported, "forward rnn is not implemented for weights_iter of layout abCde8c, packed for backward"},
  };
  for (const Refusal &one : refusals) {
    const Result<VerifiedProblem> problem = verify(parsed(one.line), Target{CpuIsa::Avx2});
    ASSERT_FALSE(problem) << one.line;
    const std::string &message = problem.error().message;
    EXPECT_EQ(problem.error().status, one.status) << message;
    EXPECT_NE(message.find(one.fragment), std::string::npos) << message;
    EXPECT_NE(message.find("(rnn " + std::string(one.constraint) + ")"), std::string::npos) << message;
    expectRefused(parsed(one.line), one.status, "(rnn C", one.line);
  }
}

// Constraint C49.
TEST(RnnBackwardVerify, RefusesHintsOfOtherProblems) {
  const std::string forward = "src_layer=f32:2x3x4:abc dst_layer=f32:2x3x8:abc " + weights;
  const PrimitiveDesc backward = parsed(lstm + layers + weights + ofSrc);
  const auto refuse = [&](const std::string &hint, std::string_view words) {
    const PrimitiveDesc given = parsed(hint);
    const Result<VerifiedProblem> problem = verify(backward, Target(), &given);
    ASSERT_FALSE(problem) << hint;
    EXPECT_EQ(problem.error().status, invalid) << hint;
    EXPECT_NE(problem.error().message.find(words), std::string::npos) << problem.error().message;
    EXPECT_NE(problem.error().message.find("(rnn C49)"), std::string::npos) << problem.error().message;
  };
  refuse("softmax fwd_t src=f32:4x8:ab dst=f32:4x8:ab axis=1", "the hint is of kind softmax");
  refuse("rnn fwd_i cell=lstm direction=left2right " + forward, "the hint's propagation kind is 'fwd_i'");
  refuse("rnn fwd_t cell=lstm direction=right2left " + forward, "direction right2left");
  refuse("rnn fwd_t cell=lstm direction=left2right src_layer=f32:5x3x4:abc dst_layer=f32:5x3x8:abc " + weights,
         "the hint's src_layer differs from the backward problem's in dims or type");
  refuse("rnn fwd_t cell=lstm direction=left2right bias=f32:1x1x4x8:abcd " + forward, "the hint's bias differs");
  const PrimitiveDesc right = accepted("rnn fwd_t cell=lstm direction=left2right alpha=3 flags=65536 " + forward).desc;
  accepted(lstm + layers + weights + ofSrc, {CpuIsa::Avx512Bf16}, &right);
}

// In the order of the descriptor's fields: inputs, then outputs.
TEST(RnnBackwardVerify, ListsTheArguments) {
  const VerifiedProblem problem = accepted(everything);
  const std::pair<int32_t, std::string_view> expected[] = {{1, "src_layer"},
                                                           {2, "src_iter"},
                                                           {3, "src_iter_c"},
                                                           {96, "seq_lengths"},
                                                           {33, "weights_layer"},
                                                           {34, "weights_iter"},
                                                           {35, "weights_peephole"},
                                                           {36, "weights_projection"},
                                                           {41, "bias"},
                                                           {17, "dst_layer"},
                                                           {18, "dst_iter"},
                                                           {19, "dst_iter_c"},
                                                           {145, "diff_dst_layer"},
                                                           {146, "diff_dst_iter"},
                                                           {147, "diff_dst_iter_c"},
                                                           {64, "workspace"},
                                                           {129, "diff_src_layer"},
                                                           {130, "diff_src_iter"},
                                                           {131, "diff_src_iter_c"},
                                                           {161, "diff_weights_layer"},
                                                           {162, "diff_weights_iter"},
                                                           {163, "diff_weights_peephole"},
                                                           {164, "diff_weights_projection"},
                                                           {169, "diff_bias"}};
  ASSERT_EQ(problem.arguments.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    const ArgumentInfo &argument = problem.arguments[i];
    EXPECT_EQ(argument.index, expected[i].first);
    EXPECT_EQ(argument.name, expected[i].second);
    EXPECT_EQ(argument.isOutput, i > 15) << argument.name;
    EXPECT_EQ(argument.isUpdated, argument.index >= 161)
        << argument.name << ": only gradients of weights are accumulated";
    EXPECT_EQ(argument.overwrittenBy, 0) << argument.name;
    EXPECT_TRUE(argument.desc.validate() && !argument.desc.isAny()) << argument.name;
  }
  EXPECT_EQ(rnnOf(problem).diffWeightsLayer.tag(), "abcde");
  EXPECT_EQ(rnnOf(problem).diffWeightsProjection.tag(), "abcd");
  EXPECT_EQ(rnnOf(problem).diffSrcLayer.tag(), "abc");
  EXPECT_EQ(problem.citations.foreign, " (rnn C50)");
  const VerifiedProblem overwriting = accepted(everything + "flags=1");
  EXPECT_EQ(rnnOf(overwriting).flags, 1u);
  for (const ArgumentInfo &argument : overwriting.arguments)
    EXPECT_FALSE(argument.isUpdated) << argument.name;
}

// Each gradient may be absent, as long as one is present.
TEST(RnnBackwardVerify, AcceptsEachGradientByItself) {
  for (std::string_view one : {"diff_src_layer=f32:2x3x4:abc", "diff_src_iter=f32:1x1x3x6:abcd",
                               "diff_src_iter_c=f32:1x1x3x8:abcd", "diff_weights_layer=f32:1x1x4x4x8:abcde",
                               "diff_weights_iter=f32:1x1x6x4x8:abcde", "diff_weights_peephole=f32:1x1x3x8:abcd",
                               "diff_weights_projection=f32:1x1x8x6:abcd", "diff_bias=f32:1x1x4x8:abcd"}) {
    std::string line = everything.substr(0, everything.find("diff_src_layer"));
    const VerifiedProblem problem = accepted(concat(line, "diff_dst_layer=f32:2x3x6:any ", one));
    EXPECT_EQ(std::ranges::count_if(problem.arguments, [](const ArgumentInfo &a) { return a.isOutput; }), 1) << one;
  }
  for (std::string cell : {"rnn activation=tanh", "gru", "lbr_gru", "augru", "lbr_augru"})
    for (std::string type : {"f32", "bf16", "f16"}) {
      const int gates = cell.starts_with("rnn") ? 1 : 3;
      const std::string attention =
          cell.ends_with("augru") ? concat("attention=", type, ":2x3x1:any diff_attention=f32:2x3x1:any ") : "";
      accepted(concat("rnn bwd cell=", cell, " direction=left2right ", attention, "src_layer=", type, ":2x3x4:any ",
                      "weights_layer=", type, ":1x1x4x", gates, "x8:any weights_iter=", type, ":1x1x8x", gates,
                      "x8:any dst_layer=", type, ":2x3x8:any diff_dst_layer=f32:2x3x8:any ", ofSrc));
    }
}

// Settings without effect do not change the problem, such as the flag if no gradient is accumulated.
TEST(RnnBackwardVerify, IgnoresFieldsWithoutEffect) {
  EXPECT_EQ(accepted(lstm + "alpha=1 flags=65537 " + layers + weights + ofSrc).desc,
            accepted(lstm + layers + weights + ofSrc).desc);
  EXPECT_NE(accepted(everything + "flags=1").desc, accepted(everything).desc);
  EXPECT_TRUE(accepted(lstm +
                       "src_layer=f32:0x3x4:abc dst_layer=f32:0x3x8:abc diff_dst_layer=f32:0x3x8:abc "
                       "diff_src_layer=f32:0x3x4:abc " +
                       weights)
                  .isNoop);
}

// The workspace of backward has the size and header of forward's, whatever the layouts are.
TEST(RnnBackwardVerify, KnowsTheWorkspaceOfItsForward) {
  const auto workspaceOf = [](const VerifiedProblem &problem) -> const ArgumentInfo & {
    return *std::ranges::find(problem.arguments, arg::workspace, &ArgumentInfo::index);
  };
  const VerifiedProblem backward = accepted(everything + "flags=1"),
                        forward = accepted("rnn fwd_t" + everything.substr(7, everything.find("diff_src_layer") - 7));
  const ArgumentInfo &read = workspaceOf(backward), &written = workspaceOf(forward);
  EXPECT_EQ(read.desc, written.desc);
  EXPECT_FALSE(read.isOutput);
  EXPECT_TRUE(written.isOutput);
  EXPECT_FALSE(written.header);
  ASSERT_TRUE(read.header);
  const rnn::WorkspaceHeader header = rnn::workspaceHeaderOf(rnnOf(forward));
  EXPECT_EQ(*read.header, std::string_view(reinterpret_cast<const char *>(&header), sizeof(header)));
}

// Blocks of input channels, and pairs of the gates' channels, with a constant stride between blocks.
TEST(RnnBackwardLayouts, PackTheTransposed) {
  const auto tagOf = [](CpuIsa isa, DataType type, int64_t inputs, FpmathMode fpmath = FpmathMode::Strict) {
    const TensorDesc plain = *TensorDesc::fromTag(std::array<int64_t, 5>{1, 1, inputs, 4, 33}, type, "any");
    return rnn::packedTransposed(plain, fpmath, {isa})->tag();
  };
  EXPECT_EQ(tagOf(CpuIsa::Avx512, DataType::F32, 512), "abCde64c");
  EXPECT_EQ(tagOf(CpuIsa::Avx2, DataType::F32, 512), "abCde16c");
  EXPECT_EQ(tagOf(CpuIsa::Avx512, DataType::F32, 20), "abCde32c");
  EXPECT_EQ(tagOf(CpuIsa::Avx512Bf16, DataType::BF16, 512), "abCdE64c2e");
  EXPECT_EQ(tagOf(CpuIsa::Avx512Bf16, DataType::F32, 512, FpmathMode::BF16), "abCdE64c2e");
  EXPECT_EQ(tagOf(CpuIsa::Avx512Vnni, DataType::BF16, 512), "abCde64c");
  const TensorDesc projection = *TensorDesc::fromTag(std::array<int64_t, 4>{1, 1, 512, 33}, DataType::BF16, "any");
  EXPECT_EQ(rnn::packedTransposed(projection, FpmathMode::Strict, {CpuIsa::Avx512Bf16})->tag(), "abCD64c2d");
  const TensorDesc odd = *TensorDesc::fromTag(std::array<int64_t, 5>{2, 2, 37, 3, 83}, DataType::BF16, "any");
  const TensorDesc packed = *rnn::packedTransposed(odd, FpmathMode::Strict, {CpuIsa::Avx512Bf16});
  ASSERT_TRUE(packed.validate());
  const int64_t step = 16 * 2, gate = 42 * step, panel = 3 * gate;
  EXPECT_EQ(packed.paddedDims[2], 48);
  EXPECT_EQ(packed.paddedDims[4], 84);
  EXPECT_EQ(packed.strides[4], step);
  EXPECT_EQ(packed.strides[3], gate);
  EXPECT_EQ(packed.strides[2], panel);
}

// Weights are packed once per execution, unless they are already packed or have contiguous input channels.
TEST(RnnBackwardLayouts, NameWhatIsPacked) {
  const auto packedOf = [](const std::string &layer, const std::string &iter, const std::string &gradient) {
    const VerifiedProblem problem = accepted(lstm + layers + "weights_layer=f32:1x1x4x4x8:" + layer +
                                             " weights_iter=f32:1x1x8x4x8:" + iter + " " + gradient);
    std::vector<int32_t> indices;
    for (const ArgumentInfo &one : problem.intermediates)
      indices.push_back(one.index);
    return indices;
  };
  using Indices = std::vector<int32_t>;
  EXPECT_EQ(packedOf("any", "any", ofSrc), Indices());
  EXPECT_EQ(packedOf("abcde", "abcde", ofSrc), (Indices{arg::weights, arg::weights1}));
  EXPECT_EQ(packedOf("abdec", "abdec", ofSrc), Indices()) << "input channels are contiguous";
  EXPECT_EQ(packedOf("abcde", "abcde", "diff_weights_iter=f32:1x1x8x4x8:any"), Indices{arg::weights1})
      << "without diff_src, weights_layer is not needed";
}
