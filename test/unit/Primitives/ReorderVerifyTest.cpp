//===- ReorderVerifyTest.cpp - The constraints of reorder, by number ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the constraints of Primitives/Reorder/Verify.cpp; each test names those that it covers.
//
//===----------------------------------------------------------------------===//
#include "VerifySupport.h"

#include "Desc/Text/TextForm.h"
#include "Primitives/Reorder/Compensation.h"

using namespace quern;
using namespace quern::test;

TEST(ReorderVerify, AcceptsEveryLayout) {
  for (std::string_view line : {
           "reorder src=f32:8x9:ab dst=f32:8x9:ba",
           "reorder src=f32:8x9:s0x1 dst=bf16:8x9:s16x1:off5",
           "reorder src=f32:8x9:aB16b:off3 dst=f32:8x9:Ab8a",
           "reorder src=f32:97x9:Ab48a dst=f32:97x9:Ab32a",
           "reorder src=f32:8x9x5:ABc4a8b2a dst=f32:8x9x5:s80x5x1:pad8x16x5",
           "reorder src=f32:1x2x1x2x1x2x1x2x1x2x1x2:lkjihgfedcba dst=f32:1x2x1x2x1x2x1x2x1x2x1x2:abcdefghijkl",
           "reorder src=f32:?x?:s?x?:off? dst=f32:?x?:ba",
           "reorder src=f32:8x9:s?x1 dst=f32:8x9:aB16b",
           "reorder src=s8:64x64:AB16b64a2b:s8s8@1:asymmetric@1 dst=s8:64x64:ab",
           "reorder src=f32:8x9:ab dst=f32:8x9:ab attr.scratchpad=user attr.fpmath=any attr.fpmath_int=true "
           "attr.accumulation=any attr.deterministic=true",
       }) {
    VerifiedProblem problem = verified(line);
    EXPECT_EQ(problem.desc, parsed(line));
    EXPECT_FALSE(problem.isNoop);
  }
  EXPECT_TRUE(verified("reorder src=f32:8x0:ab dst=s8:8x0:ba").isNoop);
}

// Constraints C16 and C24.
TEST(ReorderVerify, AcceptsEveryType) {
  const std::string_view types[] = {"f64", "f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s32", "s8", "u8"};
  for (std::string_view src : types)
    for (std::string_view dst : types)
      verified(concat("reorder src=", src, ":8x9:ab dst=", dst, ":8x9:ba"));
  for (std::string_view type : types) {
    verified(concat("reorder src=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=binary(alg=add,src1=", type, ":8x1:any)"));
    for (std::string_view other : {"f64", "f32", "bf16", "s8"})
      verified(concat("reorder src=", other, ":8x9:ab dst=", type, ":8x9:ab attr.post_ops=sum"));
  }
  const Refusal refusals[] = {
      {"C16", "reorder src=boolean:8x9:ab dst=f32:8x9:ab", unsupported, "for src of type boolean; it is for f64"},
      {"C16", "reorder src=f32:8x9:ab dst=f4_e3m0:8x9:ab", unsupported, "for dst of type f4_e3m0"},
      {"C24", "reorder src=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=binary(alg=add,src1=boolean:8x9:ab)", unsupported,
       "for post0.src_1 of type boolean"},
      {"C24", "reorder src=f32:8x9:ab dst=s8:8x9:ab attr.post_ops=sum(type=boolean)", unsupported,
       "reads dst as boolean"},
  };
  expectAllRefused("reorder", refusals);
}

TEST(ReorderVerify, ListsTheArguments) {
  VerifiedProblem problem = verified(
      "reorder src=s8:8x12:ab dst=u8:8x12:ba attr.scales=src(mask=3,type=bf16,groups=4x3),dst,post1.src_1(mask=3) "
      "attr.zero_points=src(mask=2,type=s32),dst(mask=1,type=u8),post1.src_1(mask=2,type=s32) "
      "attr.post_ops=sum(scale=2),binary(alg=select,src1=f32:8x12:any,src2=u8:8x1:ab)");
  struct Expected {
    int32_t index;
    std::string_view name;
    DataType type;
    int64_t elements;
  };
  const Expected expected[] = {{1, "src", DataType::S8, 96},
                               {17, "dst", DataType::U8, 96},
                               {4097, "scales.src", DataType::BF16, 8},
                               {4113, "scales.dst", DataType::F32, 1},
                               {8193, "zero_points.src", DataType::S32, 12},
                               {8209, "zero_points.dst", DataType::U8, 8},
                               {65538, "post1.src_1", DataType::F32, 96},
                               {65539, "post1.src_2", DataType::U8, 8},
                               {69634, "scales.post1.src_1", DataType::F32, 96},
                               {73730, "zero_points.post1.src_1", DataType::S32, 12}};
  ASSERT_EQ(problem.arguments.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    const ArgumentInfo &argument = problem.arguments[i];
    EXPECT_EQ(argument.index, expected[i].index) << i;
    EXPECT_EQ(argument.name, expected[i].name) << i;
    EXPECT_EQ(argument.desc.dataType, expected[i].type) << i;
    EXPECT_EQ(argument.desc.elements(), expected[i].elements) << i;
    EXPECT_EQ(argument.isOutput, expected[i].index == 17) << i;
    EXPECT_EQ(argument.isUpdated, expected[i].index == 17) << i;
    EXPECT_TRUE(argument.desc.validate()) << i;
  }
  EXPECT_EQ(problem.desc.attr.postOps[1].src1.tag(), "ab") << "the key contains the chosen layout instead of `any`";
  EXPECT_FALSE(verified("reorder src=s8:8x9:ab dst=u8:8x9:ba").arguments[1].isUpdated);
}

// Constraint C22.
TEST(ReorderVerify, VectorsMayHaveOpenDims) {
  VerifiedProblem problem = verified("reorder src=u8:?x?x3:abc dst=f32:?x?x3:bca attr.scales=src(mask=6),dst(mask=7) "
                                     "attr.zero_points=src(type=s32)");
  ASSERT_EQ(problem.arguments.size(), 5u);
  const ArgumentInfo &first = problem.arguments[2], &all = problem.arguments[3];
  EXPECT_EQ(first.desc.dims[0], runtimeDim);
  EXPECT_EQ(first.runtimeSizes(), 1) << "only the outer dim";
  EXPECT_EQ(all.desc.ndims, 1);
  EXPECT_EQ(all.desc.dims[0], runtimeDim);
  EXPECT_EQ(all.runtimeSizes(), 3) << "two dims, and the stride of the outer one";
  EXPECT_EQ(problem.arguments[4].desc.dims[0], 1);
  const Refusal refusals[] = {
      {"C22", "reorder src=f32:?x8:ab dst=f32:?x8:ab attr.scales=dst(mask=3,groups=4x1)", unsupported,
       "of 4 along dim 0; dim 0 is"},
      {"C22", "reorder src=f32:8x?:ab dst=f32:8x?:ab attr.scales=dst(mask=3,groups=4x1)", unsupported,
       "along dim 0; dim 1 is"},
  };
  expectAllRefused("reorder", refusals);
  verified("reorder src=f32:?x8:ab dst=f32:?x8:ab attr.scales=dst(mask=3,groups=1x4)");
}

TEST(ReorderVerify, PlacesCompensation) {
  using reorder::compensationsOf;
  TensorDesc desc = *parseTensor("s8:5x3x3:Abc2a:s8s8@1:asymmetric@3");
  auto all = compensationsOf(desc);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].byteOffset, 56); // 6 · 9, rounded up
  EXPECT_EQ(all[0].elements, 6);
  EXPECT_EQ(all[0].factor, -128);
  EXPECT_EQ(all[1].byteOffset, 56 + 24);
  EXPECT_EQ(all[1].elements, 18);
  EXPECT_EQ(all[1].factor, -1);
  EXPECT_EQ(desc.bytes(), 56 + 24 + 72);
  all = compensationsOf(*parseTensor("s8:1x2x7x4x5:abdec:rnn_u8s8@27"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].byteOffset, 280);
  EXPECT_EQ(all[0].elements, 40);
  EXPECT_EQ(all[0].type, DataType::F32);
  EXPECT_TRUE(compensationsOf(*parseTensor("s8:1x2x7x4x5:abdec:rnn_s8s8")).empty());
}

TEST(ReorderVerify, TakesRnnQuantizationByTheTensor) {
  for (std::string_view line : {
           "reorder src=f32:4x3x8:abc dst=u8:4x3x8:abc attr.rnn.data_scale=64 attr.rnn.data_shift=128 "
           "attr.rnn.weights_scales=127",
           "reorder src=bf16:1x2x3x8:abcd dst=s8:1x2x3x8:abcd attr.rnn.data_scale=64 attr.rnn.projection_scales=3",
           "reorder src=f32:1x2x7x4x5:abcde dst=s8:1x2x7x4x5:abdec attr.rnn.data_scale=64",
           "reorder src=f32:1x2x7x4x5:abcde dst=s8:1x2x7x4x5:abdEC32e4c:rnn_u8s8@27 attr.rnn.weights_mask=16 "
           "attr.rnn.weights_scales=1,2,3,4,5",
           "reorder src=f32:1x2x7x3:abcd dst=s8:1x2x7x3:abdc:rnn_u8s8@11 attr.rnn.projection_mask=8 "
           "attr.rnn.projection_scales=1,2,3",
           "reorder src=s8:1x2x7x3:abcd dst=s8:1x2x7x3:abdc:rnn_s8s8 attr.rnn.projection_scales=3",
       })
    EXPECT_EQ(verified(line).desc, parsed(line));
}

// Constraint C1.
TEST(ReorderVerify, TensorsAndAttributesAreCheckedBeforeAnything) {
  PrimitiveDesc desc = parsed("reorder src=f32:8x9:ab dst=f32:8x9:ab");
  std::get<ReorderDesc>(desc.op).dst.innerBlockCount = 99;
  expectRefused(desc, invalid, "dst: a tensor has 99 inner blocks; between 0 and 12 are possible (reorder C1)",
                "tensor");
  desc = parsed("reorder src=f32:8x9:ab dst=f32:8x9:ab");
  desc.attr.zeroPoints[1].groups = {4};
  expectRefused(desc, invalid, "(reorder C1)", "attribute");
}

TEST(ReorderVerify, RefusesTensorsByNumber) {
  const Refusal refusals[] = {
      {"C2", "reorder dst=f32:8x9:ab", invalid, "a reorder needs src"},
      {"C2", "reorder src=f32:8x9:ab", invalid, "a reorder needs dst"},
      {"C3", "reorder src=f32:8x9:any dst=f32:8x9:ab", invalid, "src has layout `any`"},
      {"C3", "reorder src=f32:8x9:ab dst=f32:8x9:any", invalid, "dst has layout `any`"},
      {"C4", "reorder src=f32:8x9:ab dst=f32:8x10:ab", invalid, "dim 1 of dst is 10; in src it is 9"},
      {"C4", "reorder src=f32:8x9:ab dst=f32:8x9x1:abc", invalid, "dst is of rank 3, src of rank 2"},
      {"C4", "reorder src=f32:?x9:ab dst=f32:8x9:ab", invalid,
       "dim 0 of dst is 8; in src it is known only at execution"},
      {"C5", "reorder src=f32:8x9:ab dst=f32:8x9:s0x1", invalid, "dst has stride 0 over dim 0"},
      {"C5", "reorder src=f32:?x9:ab dst=f32:?x9:s0x1", invalid, "dst has stride 0 over dim 0"},
      {"C6", "reorder src=f32:8x9:ab dst=u8:8x9:ab:s8s8@1", invalid, "dst is of type u8; compensation"},
      {"C6", "reorder src=f32:8x9:ab dst=f32:8x9:ab:scale_adjust@0.5", invalid, "(flags 2)"},
      {"C17", "reorder src=f32:8x9:ab dst=f32:8x9:ab dst_engine=gpu", unsupported, "dst on an engine of kind gpu"},
      {"C17", "reorder src=f32:8x9:ab dst=f32:8x9:ab src_engine=gpu", unsupported,
       "src on an engine of kind gpu; cpu targets access only cpu engines"},
      {"C18", "reorder src=f32:?x9:s9x1:blk4b:pad?x12 dst=f32:?x9:ab", unsupported, "for inner blocks in src"},
      {"C18", "reorder src=f32:8x9:ab dst=f32:8x9:s?x1:pad8x16", unsupported, "for padding in dst"},
      {"C18", "reorder src=f32:8x9:ab dst=s8:8x9:s?x1:s8s8@1", unsupported, "for compensation in dst"},
      {"C19", "reorder src=f32:8x9:s20x1:pad8x16:at0x1 dst=f32:8x9:ab", unsupported, "that of dim 1 of src is 1"},
      {"C20", "reorder src=f32:8x9:ab dst=s8:8x9:ab:rnn_u8s8@1:asymmetric@1", unsupported, "dst's flags are 12"},
      {"C20", "reorder src=f32:8x9:ab dst=s8:8x9:ab:rnn_s8s8:scale_adjust@2", unsupported, "dst's flags are 18"},
  };
  expectAllRefused("reorder", refusals);
}

TEST(ReorderVerify, RefusesQuantizationByNumber) {
  const Refusal refusals[] = {
      {"C7", "reorder src=f32:8x9:ab dst=f32:8x9:ab attr.scales=weights", invalid,
       "scales of weights (argument 33) are given"},
      {"C7", "reorder src=f32:8x9:ab dst=f32:8x9:ab attr.scales=post0.src_1", invalid,
       "the problem has no such tensor"},
      {"C7", "reorder src=f32:8x9:ab dst=f32:8x9:ab attr.scales=src(mask=4)", invalid,
       "scales of src have mask 4; a tensor of rank 2"},
      {"C7", "reorder src=s8:8x9:ab dst=f32:8x9:ab attr.zero_points=src(mask=4,type=s32)", invalid,
       "zero points of src have mask 4"},
      {"C8", "reorder src=f32:8:a dst=f32:8:a attr.scales=src(mask=1,groups=1x4)", invalid, "the tensor is of rank 1"},
      {"C8", "reorder src=f32:8x9:ab dst=f32:8x9:ab attr.scales=src(mask=3,groups=3x3)", invalid,
       "which do not divide dim 0 of 8"},
      {"C8", "reorder src=f32:8x9:ab dst=f32:8x9:ab attr.scales=dst(mask=3,groups=1x2)", invalid,
       "which do not divide dim 1 of 9"},
      {"C8", "reorder src=f32:8x9:ab dst=f32:8x9:ab attr.scales=dst(mask=2,groups=4x3)", invalid,
       "groups of 4 along dim 0"},
      {"C9", "reorder src=f32:8x9:ab dst=u8:8x9:ab attr.zero_points=src(type=s32)", invalid,
       "src are given; the tensor is of type f32"},
      {"C9", "reorder src=u8:8x9:ab dst=bf16:8x9:ab attr.zero_points=dst(type=s32)", invalid,
       "dst are given; the tensor is of type bf16"},
      {"C21", "reorder src=f32:8x9:ab dst=u8:8x9:ab attr.scales=src(type=s8)", unsupported,
       "scales of src are of type s8"},
      {"C21", "reorder src=f32:8x9:ab dst=u8:8x9:ab attr.zero_points=dst(type=bf16)", unsupported,
       "zero points of dst are of type bf16"},
  };
  expectAllRefused("reorder", refusals);
}

TEST(ReorderVerify, RefusesHalfBytesByNumber) {
  verified("reorder src=s4:3x8:s9x1:off1 dst=u4:3x8:Ab2a:off2");
  const Refusal refusals[] = {
      {"C28", "reorder src=f32:8x9:ab dst=s4:8x9:ab:off1", unsupported, "starts at element 1, in the middle of a byte"},
      {"C28", "reorder src=f32:8x9:ab dst=f4_e2m1:8x9:s10x1", unsupported, "with gaps between its 72 elements"},
      {"C28", "reorder src=u4:?x9:ab dst=f32:?x9:ab", unsupported,
       "src of type u4 with sizes that are known only at execution"},
      {"C28", "reorder src=u8:?x9:ab dst=f32:?x9:ab attr.zero_points=src(mask=1,type=s4)", unsupported,
       "of type s4 along dim 0"},
  };
  expectAllRefused("reorder", refusals);
}

TEST(ReorderVerify, RefusesPostOpsByNumber) {
  const std::string start = "reorder src=f32:8x9:ab dst=f32:8x9:ab ";
  struct OfPostOps {
    std::string_view constraint, attributes;
    Status status;
    std::string_view fragment;
  };
  const OfPostOps refusals[] = {
      {"C10", "attr.post_ops=binary(alg=add,src1=f32:8:a)", invalid, "post0.src_1 is of rank 1, dst of rank 2"},
      {"C10", "attr.post_ops=binary(alg=add,src1=f32:4x9:ab)", invalid,
       "dim 0 of post0.src_1 is 4; it must be 1 or dst's 8"},
      {"C10", "attr.post_ops=binary(alg=select,src1=f32:8x9:ab,src2=f32:8x3:ab)", invalid, "dim 1 of post0.src_2 is 3"},
      {"C11", "attr.post_ops=sum(type=bf16)", invalid, "reads dst as bf16, which differs in size from f32"},
      {"C18", "attr.post_ops=binary(alg=add,src1=f32:8x9:s?x1:blk4b:pad8x12)", unsupported,
       "inner blocks in post0.src_1"},
      {"C20", "attr.post_ops=binary(alg=add,src1=s8:8x9:ab:s8s8@1)", unsupported, "compensation in post0.src_1"},
      {"C23", "attr.post_ops=prelu(mask=2)", unsupported, "with a post-op prelu, which is number 0"},
      {"C23", "attr.post_ops=sum,eltwise(alg=relu),sum(scale=2)", unsupported,
       "with a second post-op sum, which is number 2"},
      {"C25", "attr.post_ops=binary(alg=select,src1=f32:8x9:ab,src2=f32:8x9:ab) attr.scales=post0.src_2", unsupported,
       "scales of post0.src_2"},
      {"C25", "attr.post_ops=binary(alg=add,src1=s8:8x9:ab) attr.zero_points=post0.src_1(mask=3,type=s8,groups=4x3)",
       unsupported, "groups of zero points of post0.src_1"},
  };
  for (const OfPostOps &one : refusals) {
    expectRefused(parsed(start + std::string(one.attributes)), one.status, one.fragment, one.attributes);
    expectRefused(parsed(start + std::string(one.attributes)), one.status,
                  "(reorder " + std::string(one.constraint) + ")", one.attributes);
  }
  const Refusal open[] = {{"C25",
                           "reorder src=f32:?x9:ab dst=f32:?x9:ab attr.post_ops=binary(alg=add,src1=f32:?x9:ab) "
                           "attr.scales=post0.src_1(mask=1)",
                           unsupported, "along dim 0, which is known only at execution"}};
  expectAllRefused("reorder", open);
}

TEST(ReorderVerify, RefusesRnnQuantizationByNumber) {
  const Refusal refusals[] = {
      {"C12",
       "reorder src=f32:1x2x7x4x5:abcde dst=s8:1x2x7x4x5:abcde attr.rnn.weights_mask=24 attr.rnn.weights_scales=1,2,3",
       invalid, "3 scales; mask 24 over these dims needs 20"},
      {"C12",
       "reorder src=f32:1x2x7x4:abcd dst=s8:1x2x7x4:abcd:rnn_s8s8 attr.rnn.projection_mask=16 "
       "attr.rnn.projection_scales=3",
       invalid, "1 scales; mask 16"},
      {"C26", "reorder src=f32:8x9:ab dst=u8:8x9:ab attr.rnn.data_scale=2", unsupported,
       "RNN data from f32 to u8 of rank 2"},
      {"C26", "reorder src=f32:8x9x2:abc dst=f32:8x9x2:abc attr.rnn.data_scale=2", unsupported,
       "RNN data from f32 to f32 of rank 3"},
      {"C26", "reorder src=u8:8x9x2:abc dst=s8:8x9x2:abc attr.rnn.data_scale=2", unsupported,
       "RNN data from u8 to s8 of rank 3"},
      {"C26", "reorder src=f32:1x2x7x4x5:abcde dst=u8:1x2x7x4x5:abcde attr.rnn.weights_scales=3", unsupported,
       "RNN weights from f32 to u8 of rank 5"},
      {"C26", "reorder src=f32:8x9x2:abc dst=s8:8x9x2:abc:rnn_s8s8 attr.rnn.weights_scales=3", unsupported,
       "RNN weights from f32 to s8 of rank 3"},
      {"C27", "reorder src=f32:4x3x8:abc dst=u8:4x3x8:abc attr.rnn.data_scale=2 attr.scales=dst", unsupported,
       "in addition to scales"},
      {"C27", "reorder src=f32:4x3x8:abc dst=u8:4x3x8:abc attr.rnn.data_scale=2 attr.zero_points=dst(type=s32)",
       unsupported, "in addition to zero points"},
      {"C27", "reorder src=f32:4x3x8:abc dst=u8:4x3x8:abc attr.rnn.data_scale=2 attr.post_ops=sum", unsupported,
       "in addition to post-ops"},
  };
  expectAllRefused("reorder", refusals);
}
