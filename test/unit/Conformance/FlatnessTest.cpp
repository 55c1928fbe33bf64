//===- FlatnessTest.cpp - Detecting data that tests nothing ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Suite/Flatness.h"

#include "Primitives/Arguments.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace quern;

namespace {

/// Returns the part of a problem that has only one value, with the data of its seed or with a src of zeros.
std::string flatPartOf(std::string_view line, bool isOfZeros = false) {
  const ParsedProblem problem = *readProblem(line, Target{CpuIsa::Avx2});
  ProblemData data = *ProblemData::create(problem, {});
  if (isOfZeros)
    std::memset(data.buffer(arg::src), 0, static_cast<size_t>(data.descOf(arg::src)->bytes()));
  EXPECT_TRUE(data.computeExpected());
  return flatPartOf(problem, data);
}

std::string_view reasonFor(std::string_view line, FillKind fill = FillKind::Dense) {
  return reasonForFlat(*PrimitiveDesc::parse(line), fill);
}

} // namespace

TEST(Flatness, VariedDataAndResultsAreNotFlat) {
  EXPECT_EQ(flatPartOf("softmax fwd_i src=f32:3x5:ab dst=f32:3x5:ab axis=1"), "");
  EXPECT_EQ(
      flatPartOf("rnn fwd_t cell=gru direction=left2right src_layer=f32:3x2x5:abc weights_layer=f32:1x1x5x3x6:abcde "
                 "weights_iter=f32:1x1x6x3x6:abcde dst_layer=f32:3x2x6:abc"),
      "");
}

TEST(Flatness, ConstantResultsAreFlat) {
  EXPECT_EQ(flatPartOf("eltwise fwd_i alg=linear alpha=0 beta=3 src=f32:3x5:ab dst=f32:3x5:ab"), "output 17, all 3");
  EXPECT_EQ(flatPartOf("eltwise fwd_i alg=abs src=f32:3x5:ab dst=f32:3x5:ab "
                       "attr.post_ops=eltwise(alg=clip,alpha=-1),eltwise(alg=relu)"),
            "output 17, all 0");
  EXPECT_EQ(flatPartOf("softmax fwd_i src=f32:30x1:ab dst=f32:30x1:ab axis=1"), "output 17, all 1");
}

TEST(Flatness, ConstantInputsAreFlat) {
  EXPECT_EQ(flatPartOf("eltwise fwd_i alg=relu src=f32:3x5:ab dst=f32:3x5:ab", true), "input src");
}

TEST(Flatness, EmptySourcesAreNotFlat) {
  EXPECT_EQ(flatPartOf("concat srcs=f32:0x9:s0x1,f32:3x9:ab dst=f32:3x9:ab"), "");
}

TEST(Flatness, FewEqualElementsAreAccepted) {
  EXPECT_EQ(flatPartOf("eltwise fwd_i alg=linear alpha=0 beta=3 src=f32:2x4:ab dst=f32:2x4:ab"), "");
}

TEST(Flatness, OnlyKnownProblemsMayBeFlat) {
  EXPECT_EQ(reasonFor("softmax fwd_i src=f32:30x1:ab dst=f32:30x1:ab axis=1"), "rows of one element");
  EXPECT_EQ(reasonFor("softmax fwd_i src=f32:1x30:ab dst=f32:1x30:ab axis=1", FillKind::Special),
            "a single row of special data");
  EXPECT_EQ(reasonFor("softmax fwd_i src=f32:1x30:ab dst=f32:1x30:ab axis=1"), "");
  EXPECT_EQ(reasonFor("eltwise fwd_i alg=linear alpha=0 beta=3 src=f32:3x5:ab dst=f32:3x5:ab"), "");
}
