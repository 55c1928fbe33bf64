//===- RnnVerifyTest.cpp - The constraints of RNNs, by number -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the constraints of Primitives/Rnn/Verify.cpp; each test names those that it covers. Valid problems are passed
// to verifyRnn() directly, with an explicit target.
//
//===----------------------------------------------------------------------===//
#include "RnnVerifySupport.h"

#include "Primitives/Rnn/Layouts.h"
#include "Primitives/Rnn/Shape.h"
#include "Primitives/Rnn/Workspace.h"

#include <array>

using namespace quern;
using namespace quern::test;

namespace {

constexpr CpuIsa allIsas[] = {CpuIsa::Sse42,      CpuIsa::Avx2,       CpuIsa::Avx512,   CpuIsa::Avx512Vnni,
                              CpuIsa::Avx512Bf16, CpuIsa::Avx512Fp16, CpuIsa::Avx512Amx};

const std::string lstm = "rnn fwd_i cell=lstm direction=left2right ", gru = "rnn fwd_i cell=gru direction=left2right ";
const std::string layers = "src_layer=f32:2x3x4:abc dst_layer=f32:2x3x8:abc ";
const std::string int8 =
    "src_layer=u8:2x3x4:abc weights_layer=s8:1x1x4x4x8:any weights_iter=s8:1x1x8x4x8:any dst_layer=u8:2x3x8:abc ";

/// Returns `line` as a problem of backward, with the gradients of src_layer and dst_layer.
std::string backwardOf(const std::string &line) {
  std::string backward = "rnn bwd" + line.substr(std::string_view("rnn fwd_i").size());
  for (std::string_view name : {"src_layer=", "dst_layer="}) {
    const size_t type = line.find(name) + name.size(), dims = line.find(':', type), end = line.find(':', dims + 1);
    backward += concat(" diff_", name, "f32", line.substr(dims, end - dims), ":any");
  }
  return backward;
}

/// Expects that backward refuses the same problems as forward with the same message. Exceptions, for which backward has
/// separate rules: required tensors (C46), outputs (C25), open sizes (C38), integers (C36) and other propagation kinds.
void expectAllRefusedOfBackward(std::span<const Refusal> refusals) {
  size_t count = 0;
  for (const Refusal &one : refusals) {
    const bool isException = one.constraint == "C7" || one.constraint == "C25" ||
                             one.line.find('?') != std::string::npos || one.line.find("s8:1x1") != std::string::npos ||
                             !one.line.starts_with("rnn fwd_i") || one.line.find("dst_layer") == std::string::npos;
    count += !isException;
    if (!isException) {
      const std::string line = backwardOf(one.line);
      expectRefused(parsed(line), one.status, one.fragment, line);
      expectRefused(parsed(line), one.status, concat("(rnn ", one.constraint, ")"), line);
    }
  }
  EXPECT_GE(count, 2u);
}

} // namespace

// Constraints C2 to C10.
TEST(RnnVerify, RefusesOtherKinds) {
  const Refusal refusals[] = {
      {"C2", "rnn bwd_w cell=lstm direction=left2right " + layers + weights, invalid, "propagation kind 'bwd_w' (192)"},
      {"C3", "rnn fwd_i direction=left2right " + layers + weights, invalid, "cell 'undef' (0)"},
      {"C4", "rnn fwd_i cell=lstm " + layers + weights, invalid, "direction 'undef' (0)"},
      {"C5", "rnn fwd_i cell=rnn activation=exp direction=left2right " + layers + weights, invalid,
       "activation 'eltwise_exp'"},
      {"C5", lstm + "activation=tanh " + layers + weights, invalid, "cell vanilla_lstm has none"},
      {"C6", lstm + "flags=4 " + layers + weights, invalid, "flags are 4"},
      {"C7", lstm + layers, invalid, "needs weights_layer, which is absent"},
      {"C7", lstm + layers + weights + "diff_bias=f32:1x1x4x8:abcd", invalid, "does not use diff_bias"},
      {"C8", gru + layers + gruWeights + "weights_peephole=f32:1x1x3x8:abcd", invalid, "does not use weights_peephole"},
      {"C8", lstm + layers + weights + "src_iter=f32:1x1x3x8:abcd", invalid,
       "src_iter_c is absent and src_iter is given"},
      {"C8", lstm + layers + weights + "dst_iter_c=f32:1x1x3x8:abcd", invalid,
       "dst_iter is absent and dst_iter_c is given"},
      {"C9", "rnn fwd_i cell=augru direction=left2right " + layers + gruWeights, invalid, "needs attention"},
      {"C9", gru + layers + gruWeights + "attention=f32:2x3x1:abc", invalid, "does not use attention"},
      {"C10", lstm + layers + weights + "bias=f32:1x4x8:abc", invalid, "bias is of rank 3; it must be of rank 4"},
      {"C10", lstm + "src_layer=f32:2x4:ab dst_layer=f32:2x3x8:abc " + weights, invalid,
       "src_layer is of rank 2; it must be of rank 3"},
  };
  expectAllRefused("rnn", refusals);
  expectAllRefusedOfBackward(refusals);
}

/// Returns a line in which all channels are open.
static std::string openWidths(const char *cell, const char *direction, int layers, int gates, const char *type,
                              const char *more = "", const char *tag = "abcde") {
  const std::string weights = concat("=", type, ":", layers, "x1x?x", gates, "x?:", tag);
  return concat("rnn fwd_i cell=", cell, " direction=", direction, " src_layer=", type, ":2x3x?:abc", more,
                " weights_layer", weights, " weights_iter", weights, " dst_layer=", type, ":2x3x?:abc");
}

// Constraints C11 to C24, C33 and C39: messages name the rule, both values and the tensor.
TEST(RnnVerify, RefusesOtherDims) {
  const std::string stack = "weights_layer=f32:2x1x4x4x8:any weights_iter=f32:2x1x8x4x8:any";
  const std::string augru = "rnn fwd_i cell=augru direction=left2right ";
  const Refusal refusals[] = {
      {"C45", lstm + "src_layer=f32:1000000000000000x100x4:abc dst_layer=f32:1000000000000000x100x8:abc " + weights,
       unsupported, "need scratch of more than"},
      {"C11", lstm + layers + weights + "bias=f32:5x1x4x8:abcd", invalid,
       "dim 0 of bias is 5; it must be 1, L of weights_layer"},
      {"C12", lstm + layers + weights + "bias=f32:1x2x4x8:abcd", invalid,
       "dim 1 of bias is 2; it must be 1, direction left2right"},
      {"C12", "rnn fwd_i cell=lstm direction=bidirectional_sum " + layers + weights, invalid,
       "dim 1 of weights_layer is 1; it must be 2"},
      {"C13", lstm + layers + gruWeights, invalid,
       "dim 3 of weights_layer is 3; it must be 4, the gates of cell vanilla_lstm"},
      {"C13", "rnn fwd_i cell=lbr_gru direction=left2right " + layers + gruWeights + "bias=f32:1x1x3x8:abcd", invalid,
       "dim 2 of bias is 3; it must be 4"},
      {"C14", lstm + "src_layer=f32:2x3x5:abc dst_layer=f32:2x3x8:abc " + weights, invalid,
       "dim 2 of src_layer is 5; it must be 4, SLC"},
      {"C15", gru + layers + gruWeights + "src_iter=f32:1x1x3x9:abcd", invalid,
       "dim 3 of src_iter is 9; it must be 8, SIC"},
      {"C16", lstm + layers + weights + "bias=f32:1x1x4x9:abcd", invalid, "dim 3 of bias is 9; it must be 8, DHC"},
      {"C16", lstm + layers + weights + "weights_projection=f32:1x1x9x8:abcd", invalid,
       "dim 2 of weights_projection is 9; it must be 8"},
      {"C17", lstm + layers + weights + "dst_iter=f32:1x1x3x9:abcd dst_iter_c=f32:1x1x3x8:abcd", invalid,
       "dim 3 of dst_iter is 9"},
      {"C18", lstm + "src_layer=f32:2x3x4:abc dst_layer=f32:2x3x16:abc " + weights, invalid,
       "dim 2 of dst_layer is 16; it must be 8"},
      {"C19", lstm + "src_layer=f32:2x3x4:abc dst_layer=f32:5x3x8:abc " + weights, invalid,
       "dim 0 of dst_layer is 5; it must be 2, T"},
      {"C20", lstm + layers + weights + "seq_lengths=s32:5:a", invalid,
       "dim 0 of seq_lengths is 5; it must be 3, N of src_layer"},
      {"C21", augru + layers + gruWeights + "attention=f32:2x3x2:abc", invalid,
       "dim 2 of attention is 2; it must be 1"},
      {"C22", lstm + layers + stack, invalid,
       "weights_layer has SLC 4 and 2 layers; the layers above the first read DIC = 8"},
      {"C22", lstm + "flags=65536 " + layers + stack, invalid, "read D x DIC = 8 channels"},
      {"C23", lstm + layers + "weights_layer=f32:1x1x4x4x8:any weights_iter=f32:1x1x9x4x8:any", invalid,
       "SIC 9 and T of src_layer is 2"},
      {"C24",
       gru + "src_layer=f32:1x3x4:abc dst_layer=f32:1x3x8:abc weights_layer=f32:1x1x4x3x8:any "
             "weights_iter=f32:1x1x9x3x8:any",
       invalid, "SIC 9 and DHC 8"},
      {"C33", "rnn fwd_i cell=augru direction=right2left " + layers + gruWeights + "attention=f32:2x3x1:abc",
       unsupported, "right2left"},
      {"C39", lstm + "src_layer=f32:2x3x?:abc dst_layer=f32:2x3x8:abc " + weights, unsupported,
       "dim 2 of src_layer is known only at execution"},
      {"C39", lstm + layers + "weights_layer=f32:1x1x4x4x8:s128x128x?x8x1 weights_iter=f32:1x1x8x4x8:any", unsupported,
       "for weights_layer with"},
      {"C39", lstm + layers + "weights_layer=f32:1x1x?x4x8:abcde weights_iter=f32:1x1x8x4x8:any", unsupported,
       "unless SLC, SIC and DHC all are"},
      {"C39", openWidths("lstm", "left2right", 1, 4, "f16"), unsupported, "except for inference in f32 and bf16"},
      {"C39", openWidths("lstm", "left2right", 2, 4, "f32"), unsupported, "with 2 layers and 1 directions"},
      {"C39", openWidths("lstm", "left2right", 1, 4, "f32", " seq_lengths=s32:3:a"), unsupported, "with seq_lengths"},
      {"C39", openWidths("lbr_gru", "left2right", 1, 3, "f32", " bias=f32:1x1x4x?:s?x?x?x2"), unsupported,
       "unless bias is plain with contiguous channels"},
      {"C40", openWidths("lstm", "left2right", 1, 4, "f32", "", "abdEc12e"), unsupported, "weights_layer with inner"},
  };
  expectAllRefused("rnn", refusals);
  expectAllRefusedOfBackward(refusals);
}

// Constraints C34 to C38.
TEST(RnnVerify, RefusesOtherTypes) {
  const Refusal refusals[] = {
      {"C34", lstm + "src_layer=f64:2x3x4:abc dst_layer=f64:2x3x8:abc " + weights, unsupported,
       "src_layer of type f64"},
      {"C35", lstm + "src_layer=bf16:2x3x4:abc dst_layer=bf16:2x3x8:abc " + weights, unsupported,
       "weights_layer of type f32 with src_layer of type bf16; it is for bf16"},
      {"C35", lstm + layers + weights + "bias=bf16:1x1x4x8:abcd", unsupported,
       "bias of type bf16 with src_layer of type f32"},
      {"C36", "rnn fwd_t cell=lstm direction=left2right " + int8, unsupported, "u8 with propagation kind fwd_t"},
      {"C37", lstm + layers + weights + "seq_lengths=s8:3:a", unsupported, "seq_lengths of type s8"},
      {"C38",
       "rnn fwd_t cell=lstm direction=left2right src_layer=f32:2x?x4:s?x?x? dst_layer=f32:2x?x8:abc "
       "weights_layer=f32:1x1x4x4x8:any weights_iter=f32:1x1x8x4x8:any",
       unsupported, "training if stride 2 of src_layer is known only at execution"},
  };
  expectAllRefused("rnn", refusals);
  expectAllRefusedOfBackward(refusals);
}

// Constraints C25, C40 and C41.
TEST(RnnVerify, RefusesOtherLayouts) {
  const Refusal refusals[] = {
      {"C25", lstm + "src_layer=f32:2x3x4:abc dst_layer=f32:2x3x8:s8x0x1 " + weights, invalid,
       "dst_layer has stride 0 over dim 1"},
      {"C40", lstm + "src_layer=f32:2x3x4:abC16c dst_layer=f32:2x3x8:abc " + weights, unsupported,
       "src_layer with inner blocks; it must be"},
      {"C40", lstm + layers + "weights_layer=f32:1x1x4x4x8:abdEC8e4c weights_iter=f32:1x1x8x4x8:any", unsupported,
       "weights_layer with inner"},
      {"C41",
       lstm + "src_layer=u8:2x3x4:abc weights_layer=s8:1x1x4x4x8:abcde:s8s8@27 weights_iter=s8:1x1x8x4x8:any "
              "dst_layer=u8:2x3x8:abc",
       unsupported, "weights_layer with appended sums of flags 1 and mask 27"},
  };
  expectAllRefused("rnn", refusals);
  expectAllRefusedOfBackward(refusals);
}

// Constraints C26 to C28 and C42 to C44.
TEST(RnnVerify, RefusesOtherAttributes) {
  const std::string s8 =
      "src_layer=s8:2x3x4:abc weights_layer=s8:1x1x4x4x8:any weights_iter=s8:1x1x8x4x8:any dst_layer=s8:2x3x8:abc ";
  const Refusal refusals[] = {
      {"C26", lstm + int8 + "attr.rnn.weights_mask=4 attr.rnn.weights_scales=1", invalid,
       "have mask 4; it may be 0 or 24"},
      {"C27", lstm + int8 + "attr.rnn.weights_mask=24 attr.rnn.weights_scales=1,2", invalid,
       "have 2 values; for mask 24 they must have 32"},
      {"C28", lstm + int8 + "attr.rnn.weights_scales=0", invalid, "have the value 0"},
      {"C28", lstm + int8 + "attr.rnn.data_scale=nan", invalid, "data scale is nan"},
      {"C28", lstm + s8 + "attr.rnn.data_shift=1", invalid, "data shift is 1; data of type s8 needs 0"},
      {"C42", lstm + layers + weights + "attr.post_ops=eltwise(alg=relu)", unsupported,
       "does not support post-ops; 1 are given"},
      {"C42", lstm + layers + weights + "attr.scales=src", unsupported,
       "does not support scales; argument src has some"},
      {"C43", lstm + layers + weights + "attr.rnn.data_scale=2", unsupported, "it is f32"},
      {"C43", lstm + int8 + "attr.rnn.projection_scales=2", unsupported,
       "weights_projection are given, but it is absent"},
      {"C44", lstm + "src_layer=f32:?x3x4:abc dst_layer=f32:?x3x8:abc " + weights + "attr.scratchpad=user", unsupported,
       "does not support a caller-owned scratchpad"},
  };
  expectAllRefused("rnn", refusals);
  expectAllRefusedOfBackward(refusals);
}

// C43: scales of 1 and a shift of 0 quantize nothing, whatever the types and the mask.
TEST(RnnVerify, AcceptsQuantizationThatChangesNothing) {
  accepted(lstm + layers + weights + "attr.rnn.weights_scales=1 attr.rnn.projection_scales=1 attr.rnn.data_shift=-0");
  accepted(lstm + layers + weights + "attr.rnn.weights_mask=4 attr.rnn.weights_scales=1,1,1");
  accepted(lstm + int8 + "attr.rnn.projection_mask=8 attr.rnn.projection_scales=1,1,1");
  const Refusal refusals[] = {
      {"C43", lstm + layers + weights + "attr.rnn.weights_mask=24", unsupported, "it is f32"},
      {"C43", lstm + layers + weights + "attr.rnn.projection_scales=1,2", unsupported, "it is f32"},
      {"C43", lstm + layers + weights + "attr.rnn.data_shift=0.5", unsupported, "it is f32"},
  };
  expectAllRefused("rnn", refusals);
}

// Constraints C1, C29, C30 and C31.
TEST(RnnVerify, CitesTheConstraintsOfAnExecution) {
  VerifiedProblem problem = accepted(lstm + layers + weights);
  EXPECT_EQ(problem.citations.missing, " (rnn C29)");
  EXPECT_EQ(problem.citations.overlapping, " (rnn C30)");
  EXPECT_EQ(problem.citations.unfitting, " (rnn C31)");
  for (const ArgumentInfo &argument : problem.arguments) {
    const int32_t output = argument.index == arg::src1 ? arg::dst1 : argument.index == arg::src2 ? arg::dst2 : 0;
    EXPECT_EQ(argument.overwrittenBy, output) << argument.name;
  }
  PrimitiveDesc bad = parsed(lstm + layers + weights);
  std::get<Boxed<RnnDesc>>(bad.op)->srcLayer.dims[0] = -5;
  expectRefused(bad, invalid, "(rnn C1)", "a negative dim");
  EXPECT_TRUE(accepted(lstm + "src_layer=f32:0x3x4:abc dst_layer=f32:0x3x8:abc " + weights).isNoop);
}

// Every valid type combined with each type of src_layer.
TEST(RnnVerify, AcceptsEveryType) {
  for (std::string type : {"f32", "bf16", "f16"})
    for (const std::string &other : {std::string("f32"), type})
      accepted(concat("rnn fwd_t cell=lstm direction=left2right src_layer=", type, ":2x3x4:abc src_iter=", type,
                      ":1x1x3x6:abcd src_iter_c=", other, ":1x1x3x8:abcd weights_layer=", type,
                      ":1x1x4x4x8:any weights_iter=", type, ":1x1x6x4x8:any weights_peephole=", other,
                      ":1x1x3x8:any weights_projection=", type, ":1x1x8x6:any bias=", other,
                      ":1x1x4x8:any dst_layer=", type, ":2x3x6:any dst_iter=", type, ":1x1x3x6:any dst_iter_c=", other,
                      ":1x1x3x8:any seq_lengths=s32:3:any"));
  for (std::string type : {"u8", "s8"})
    for (const std::string &state : {type, std::string("f32")})
      for (std::string cell : {"rnn activation=relu", "lstm", "gru", "lbr_gru"}) {
        int gates = cell == "lstm" ? 4 : cell.starts_with("rnn") ? 1 : 3;
        accepted(concat("rnn fwd_i cell=", cell, " direction=left2right src_layer=", type,
                        ":2x3x4:abc weights_layer=s8:1x1x4x", gates, "x8:any weights_iter=s8:1x1x8x", gates,
                        "x8:any bias=f32:1x1x", gates + (cell == "lbr_gru"), "x8:any dst_layer=", state, ":2x3x8:any",
                        cell == "lstm" ? "" : concat(" dst_iter=", state, ":1x1x3x8:any")));
      }
}

TEST(RnnVerify, ListsTheArguments) {
  VerifiedProblem problem = accepted(
      "rnn fwd_t cell=lstm direction=left2right src_layer=f32:2x3x4:abc src_iter=f32:1x1x3x8:any "
      "src_iter_c=f32:1x1x3x8:any seq_lengths=s32:3:any weights_layer=f32:1x1x4x4x8:any weights_iter=f32:1x1x8x4x8:any "
      "weights_peephole=f32:1x1x3x8:any weights_projection=f32:1x1x8x8:any bias=f32:1x1x4x8:any "
      "dst_layer=f32:2x3x8:any dst_iter=f32:1x1x3x8:any dst_iter_c=f32:1x1x3x8:any");
  const std::pair<int32_t, std::string_view> expected[] = {
      {1, "src_layer"},      {2, "src_iter"},      {3, "src_iter_c"},        {96, "seq_lengths"},
      {33, "weights_layer"}, {34, "weights_iter"}, {35, "weights_peephole"}, {36, "weights_projection"},
      {41, "bias"},          {17, "dst_layer"},    {18, "dst_iter"},         {19, "dst_iter_c"},
      {64, "workspace"}};
  ASSERT_EQ(problem.arguments.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(problem.arguments[i].index, expected[i].first);
    EXPECT_EQ(problem.arguments[i].name, expected[i].second);
    EXPECT_EQ(problem.arguments[i].isOutput,
              expected[i].first == 64 || (expected[i].first >= 17 && expected[i].first <= 19));
    EXPECT_TRUE(problem.arguments[i].desc.validate() && !problem.arguments[i].desc.isAny()) << i;
  }
  EXPECT_EQ(rnnOf(problem).dstLayer.tag(), "abc");
}

// Settings without effect do not change the problem.
TEST(RnnVerify, IgnoresFieldsWithoutEffect) {
  EXPECT_EQ(accepted(lstm + "alpha=1 beta=2 flags=65537 " + layers + weights).desc,
            accepted(lstm + layers + weights).desc);
  std::string relu =
      "rnn fwd_i cell=rnn activation=relu direction=left2right src_layer=f32:2x3x4:abc dst_layer=f32:2x3x8:abc "
      "weights_layer=f32:1x1x4x1x8:any weights_iter=f32:1x1x8x1x8:any ";
  EXPECT_NE(accepted(relu + "alpha=0.5").desc, accepted(relu).desc);
}

// T and N may be open, and packed weights do not depend on them.
TEST(RnnVerify, PackedWeightsServeEverySize) {
  auto weightsOf = [](std::string_view steps, std::string_view batch) {
    VerifiedProblem problem =
        accepted(concat(lstm, "src_layer=f32:", steps, "x", batch, "x40:abc dst_layer=f32:", steps, "x", batch,
                        "x40:abc weights_layer=f32:1x1x40x4x40:any weights_iter=f32:1x1x40x4x40:any"));
    EXPECT_EQ(rnnOf(problem).weightsLayer.tag(), "abdEc16e");
    return rnnOf(problem).weightsLayer;
  };
  TensorDesc one = weightsOf("1", "1");
  EXPECT_EQ(one, weightsOf("100", "64"));
  EXPECT_EQ(one, weightsOf("?", "?"));
  EXPECT_EQ(one.paddedDims[4], 48);
  accepted(lstm + "src_layer=f32:9x3x40:abc dst_layer=f32:9x3x40:abc weights_layer=f32:1x1x40x4x40:abdEc16e "
                  "weights_iter=f32:1x1x40x4x40:abdEc16e");
}

// The strides between panels, between steps of K and between gates are constant, for every target, type and cell.
TEST(RnnLayouts, PanelsHaveOneStrideEach) {
  for (CpuIsa isa : allIsas)
    for (DataType type : {DataType::F32, DataType::BF16, DataType::F16, DataType::S8})
      for (Alg cell : {Alg::VanillaRnn, Alg::VanillaLstm, Alg::VanillaGru, Alg::LbrGru}) {
        RnnDesc rnn;
        rnn.cell = cell;
        int64_t gates = rnn::gatesOf(cell);
        TensorDesc plain = *TensorDesc::fromTag(std::array<int64_t, 5>{2, 2, 37, gates, 83}, type, "any");
        Result<TensorDesc> packed = rnn::packedWeights(rnn, plain, FpmathMode::Strict, {isa});
        ASSERT_TRUE(packed) << packed.error().message;
        ASSERT_TRUE(packed->validate()) << packed->tag();
        int64_t blocks[maxDims];
        packed->blockSizes(blocks);
        int64_t step = blocks[4] * blocks[2], panel = packed->paddedDims[2] / blocks[2] * step;
        int64_t gate = packed->paddedDims[4] / blocks[4] * panel;
        EXPECT_EQ(packed->strides[3], gate);
        EXPECT_EQ(packed->strides[2], step);
        EXPECT_EQ(packed->strides[4], panel);
        EXPECT_EQ(packed->strides[1], gates * gate);
        EXPECT_EQ(blocks[4] % Target{isa}.lanes32(), 0);
        EXPECT_EQ(packed->extras.flags, type == DataType::S8 ? ExtraRnnU8S8 : 0u);
      }
}

TEST(RnnLayouts, FollowTheTarget) {
  auto tagOf = [](CpuIsa isa, DataType type, Alg cell, int64_t channels, FpmathMode fpmath = FpmathMode::Strict) {
    RnnDesc rnn;
    rnn.cell = cell;
    TensorDesc plain =
        *TensorDesc::fromTag(std::array<int64_t, 5>{1, 1, 32, rnn::gatesOf(cell), channels}, type, "any");
    return rnn::packedWeights(rnn, plain, fpmath, {isa})->tag();
  };
  EXPECT_EQ(tagOf(CpuIsa::Avx512Bf16, DataType::F32, Alg::VanillaLstm, 512), "abdEc16e");
  EXPECT_EQ(tagOf(CpuIsa::Avx512Bf16, DataType::F32, Alg::VanillaLstm, 512, FpmathMode::BF16), "abdEC16e2c");
  EXPECT_EQ(tagOf(CpuIsa::Avx512Bf16, DataType::BF16, Alg::VanillaLstm, 512), "abdEC16e2c");
  EXPECT_EQ(tagOf(CpuIsa::Avx512Vnni, DataType::BF16, Alg::VanillaLstm, 512), "abdEc16e");
  EXPECT_EQ(tagOf(CpuIsa::Avx512Vnni, DataType::S8, Alg::VanillaLstm, 512), "abdEC16e4c");
  EXPECT_EQ(tagOf(CpuIsa::Avx2, DataType::S8, Alg::VanillaLstm, 512), "abdEC8e4c");
  EXPECT_EQ(tagOf(CpuIsa::Sse42, DataType::F32, Alg::VanillaGru, 512), "abdEc8e");
  EXPECT_EQ(tagOf(CpuIsa::Avx512, DataType::F32, Alg::VanillaGru, 512), "abdEc32e");
  EXPECT_EQ(tagOf(CpuIsa::Avx512, DataType::F32, Alg::VanillaGru, 304), "abdEc16e")
      << "19 vectors cannot be grouped in pairs";
  EXPECT_EQ(tagOf(CpuIsa::Avx512, DataType::F32, Alg::LbrGru, 512), "abdEc16e");
  EXPECT_EQ(tagOf(CpuIsa::Avx512, DataType::F32, Alg::VanillaRnn, 512), "abdEc64e");
  EXPECT_EQ(tagOf(CpuIsa::Avx512, DataType::F32, Alg::VanillaRnn, 20), "abdEc32e")
      << "a narrow layer has narrow panels";
  EXPECT_EQ(rnn::packedProjection(*TensorDesc::fromTag(std::array<int64_t, 4>{1, 1, 512, 256}, DataType::S8, "any"),
                                  FpmathMode::Strict, {CpuIsa::Avx512Vnni})
                ->tag(),
            "abDC64d4c");
}

// The sizes in bytes of the page's table, computed by hand: a change needs another version, because backward of another
// version must refuse the workspace.
TEST(RnnWorkspace, MatchesTheDocumentation) {
  const std::string one = " direction=left2right src_layer=f32:50x16x512:tnc dst_layer=f32:50x16x512:tnc ";
  auto bytesOf = [&](const std::string &line) { return accepted(line).arguments.back().desc.bytes(); };
  auto weightsOf = [](int gates) {
    const std::string dims = ":1x1x512x" + std::to_string(gates) + "x512:ldigo";
    return "weights_layer=f32" + dims + " weights_iter=f32" + dims;
  };
  EXPECT_EQ(bytesOf("rnn fwd_t cell=lstm" + one + weightsOf(4)), 8192064); // five values per channel
  EXPECT_EQ(bytesOf("rnn fwd_t cell=gru" + one + weightsOf(3)), 4915264);
  EXPECT_EQ(bytesOf("rnn fwd_t cell=lbr_gru" + one + weightsOf(3)), 6553664);
  EXPECT_EQ(bytesOf("rnn fwd_t cell=rnn activation=tanh" + one + weightsOf(1)), 1638464);

  // 2 directions, 5 steps and 3 sequences of 7 channels: gates of 840 floats, cells of 210, states of 180 halves.
  const VerifiedProblem projected =
      accepted("rnn fwd_t cell=lstm direction=bidirectional_concat src_layer=bf16:5x3x4:abc "
               "weights_layer=bf16:1x2x4x4x7:any weights_iter=bf16:1x2x6x4x7:any weights_projection=bf16:1x2x7x6:any "
               "dst_layer=bf16:5x3x12:abc");
  const rnn::WorkspaceLayout layout = *rnn::workspaceOf(rnnOf(projected));
  using enum rnn::WorkspacePart;
  EXPECT_EQ(layout.find(Gates)->byteOffset, 64);
  EXPECT_EQ(layout.find(Cells)->byteOffset, 3456);
  EXPECT_EQ(layout.find(States)->byteOffset, 4352);
  EXPECT_EQ(projected.arguments.back().desc.bytes(), 4736);
}

// If T and N are open, so is the size of the workspace. Kernels receive derived sizes instead: the number of rows, the
// number of chunks of 64 rows, and the offsets of all sections except the first.
TEST(RnnWorkspace, SizeFollowsFromRuntimeDims) {
  const VerifiedProblem open = accepted(
      "rnn fwd_t cell=lstm direction=bidirectional_concat src_layer=bf16:?x?x4:abc weights_layer=bf16:1x2x4x4x7:any "
      "weights_iter=bf16:1x2x6x4x7:any weights_projection=bf16:1x2x7x6:any dst_layer=bf16:?x?x12:abc");
  const ArgumentInfo &workspace = open.arguments.back();
  EXPECT_EQ(workspace.desc.dims[0], runtimeDim);
  ASSERT_TRUE(workspace.grid);
  EXPECT_EQ(workspace.runtimeSizes(), 4);
  const TensorDesc sizes = *rnn::workspaceGridOf(rnnOf(open), 50, 3);
  EXPECT_EQ(std::vector(sizes.dims, sizes.dims + sizes.ndims), (std::vector<int64_t>{150, 3, 33664, 42112}));
  const rnn::WorkspaceLayout one = *rnn::workspaceOf(rnnOf(open), 5, 3);
  EXPECT_EQ(one.desc.bytes(), 4736);
  EXPECT_EQ(one.find(rnn::WorkspacePart::States)->byteOffset, 4352);
}

TEST(RnnWorkspace, SectionsFollowEachOther) {
  VerifiedProblem problem =
      accepted("rnn fwd_t cell=lstm direction=bidirectional_concat src_layer=bf16:5x3x4:abc "
               "weights_layer=bf16:1x2x4x4x7:any weights_iter=bf16:1x2x6x4x7:any weights_projection=bf16:1x2x7x6:any "
               "dst_layer=bf16:5x3x12:abc");
  Result<rnn::WorkspaceLayout> layout = rnn::workspaceOf(rnnOf(problem));
  ASSERT_TRUE(layout) << layout.error().message;
  int64_t end = rnn::workspaceHeaderBytes;
  for (const rnn::WorkspaceSection &section : layout->sections) {
    EXPECT_EQ(section.byteOffset, end);
    end += (section.desc.bytes() + 63) / 64 * 64;
  }
  EXPECT_EQ(layout->desc.bytes(), end);
  EXPECT_EQ(problem.arguments.back().desc, layout->desc);
  const rnn::WorkspaceSection *gates = layout->find(rnn::WorkspacePart::Gates),
                              *states = layout->find(rnn::WorkspacePart::States);
  ASSERT_TRUE(gates && states && layout->find(rnn::WorkspacePart::Cells));
  EXPECT_FALSE(layout->find(rnn::WorkspacePart::HiddenSums));
  EXPECT_EQ(gates->desc.dataType, DataType::F32);
  EXPECT_EQ(states->desc.dataType, DataType::BF16);
  EXPECT_EQ(gates->desc.elements(), 2 * 5 * 3 * 4 * 7);
}

// The header distinguishes the workspaces of different problems.
TEST(RnnWorkspace, HeadersNameTheShape) {
  auto shapeOf = [](const RnnDesc &rnn) {
    return std::pair(rnn::workspaceHeaderOf(rnn).shape[0], rnn::workspaceHeaderOf(rnn).shape[1]);
  };
  RnnDesc rnn = rnnOf(accepted(lstm + layers + weights)), other = rnn;
  EXPECT_EQ(shapeOf(rnn), shapeOf(other));
  EXPECT_EQ(rnn::workspaceHeaderOf(rnn).version, 3u);
  EXPECT_EQ(rnn::workspaceHeaderOf(rnn).steps, 2);
  EXPECT_EQ(rnn::workspaceHeaderOf(rnn).batch, 3);
  other.srcLayer.dims[0] = 3;
  EXPECT_EQ(shapeOf(rnn), shapeOf(other)) << "T and N are separate fields of the header";
  other = rnn, other.direction = RnnDirection::Right2Left;
  EXPECT_NE(shapeOf(rnn), shapeOf(other));
}
