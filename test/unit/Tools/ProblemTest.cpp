//===- ProblemTest.cpp - Lines, carets, guarded buffers, units ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the parts of the command that do not require running it.
//
//===----------------------------------------------------------------------===//
#include "Problem.h"
#include "Command.h"
#include "Output.h"
#include "ProblemData.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace quern;

namespace {

constexpr const char *line = "softmax fwd_i alg=accurate src=f32:2x3:ab dst=f32:2x3:ab axis=1";

TEST(Problem, CaretGoesUnderTheFieldThatIsNamedFirst) {
  EXPECT_EQ(withCaret("softmax: axis 7 is outside 0..1 of src", "softmax src=f32:2x3:ab axis=7"),
            "softmax: axis 7 is outside 0..1 of src\n  softmax src=f32:2x3:ab axis=7\n                              ^");
  EXPECT_EQ(withCaret("softmax: attr.scales are refused", "softmax attr.scales=src:0"),
            "softmax: attr.scales are refused\n  softmax attr.scales=src:0\n                      ^~~~~");
  EXPECT_EQ(withCaret("2 post-ops are refused", "softmax attr.post_ops=relu"),
            "2 post-ops are refused\n  softmax attr.post_ops=relu\n                        ^~~~");
  EXPECT_EQ(withCaret("no backward propagation", "softmax bwd_d axis=7"),
            "no backward propagation\n  softmax bwd_d axis=7\n          ^~~~~");
  EXPECT_EQ(withCaret("nothing in common", "softmax axis=7"), "nothing in common");
}

TEST(Problem, CountsElementsNotGaps) {
  Result<ParsedProblem> problem = readProblem(line, Target::host());
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(problem->bytesMoved(), 2 * 2 * 3 * 4);
}

TEST(ExitCode, TheMostSeriousWins) {
  EXPECT_EQ(moreSerious(exitOk, exitUnimplemented), exitUnimplemented);
  EXPECT_EQ(moreSerious(exitUnimplemented, exitUsage), exitUsage);
  EXPECT_EQ(moreSerious(exitWrong, exitUsage), exitWrong);
  EXPECT_EQ(moreSerious(exitWrong, exitFailed), exitFailed);
  EXPECT_EQ(exitCodeOf(Status::OutOfMemory), exitFailed);
}

TEST(ProblemData, CatchesStrayWrites) {
  Result<ParsedProblem> problem =
      readProblem("softmax fwd_i alg=accurate src=f32:2x3:ab dst=f32:2x3:s4x1 axis=1", Target::host());
  ASSERT_TRUE(problem) << problem.error().message;
  Result<ProblemData> data = ProblemData::create(*problem, {});
  ASSERT_TRUE(data);
  float *dst = static_cast<float *>(data->buffer(17));
  dst[0] = 1;
  EXPECT_EQ(data->strayWrites(), "");
  dst[3] = 1;
  EXPECT_EQ(data->strayWrites(), "a gap between the elements of dst was overwritten at element 3 of the buffer");
  data->refill();
  dst[-1] = 1;
  EXPECT_EQ(data->strayWrites(), "bytes outside of the buffer of dst were overwritten");
}

TEST(ProblemData, CatchesNonzeroPadding) {
  Result<ParsedProblem> problem = readProblem("reorder src=f32:10:a dst=f32:10:A8a", Target::host());
  ASSERT_TRUE(problem) << problem.error().message;
  Result<ProblemData> data = ProblemData::create(*problem, {});
  ASSERT_TRUE(data);
  float *dst = static_cast<float *>(data->buffer(17));
  std::fill(dst + 10, dst + 16, 0.0f);
  EXPECT_EQ(data->strayWrites(), "");
  dst[14] = 1;
  EXPECT_EQ(data->strayWrites(), "the padding of dst is not zero at element 14 of the buffer");
}

TEST(ProblemData, CatchesStrayHalfBytes) {
  Result<ParsedProblem> problem = readProblem("reorder src=s8:5:a dst=s4:5:A8a", Target::host());
  ASSERT_TRUE(problem) << problem.error().message;
  Result<ProblemData> data = ProblemData::create(*problem, {});
  ASSERT_TRUE(data);
  uint8_t *dst = static_cast<uint8_t *>(data->buffer(17));
  dst[2] &= 15;
  dst[3] = 0;
  EXPECT_EQ(data->strayWrites(), "");
  dst[3] = 0x10;
  EXPECT_EQ(data->strayWrites(), "the padding of dst is not zero at element 7 of the buffer");
}

TEST(ProblemData, CatchesChangedInputs) {
  Result<ParsedProblem> problem = readProblem(line, Target::host());
  ASSERT_TRUE(problem);
  Result<ProblemData> data = ProblemData::create(*problem, {});
  ASSERT_TRUE(data);
  static_cast<float *>(data->buffer(1))[0] += 1;
  EXPECT_EQ(data->strayWrites(), "the input src was overwritten");
  data->refill();
  EXPECT_EQ(data->strayWrites(), "");
}

TEST(Problem, SizesAreFilledInFromLeftToRight) {
  EXPECT_EQ(*withSizes("src=f32:?x3x?:abc dst=f32:?x3x?:s?x1x4:off?", {1, 2, 3, 4, 5, 6}),
            "src=f32:1x3x2:abc dst=f32:3x3x4:s5x1x4:off6");
  EXPECT_EQ(*withSizes("src=f32:?x3:ab dst=f32:?x3:ab", {7}), "src=f32:7x3:ab dst=f32:7x3:ab");
  EXPECT_FALSE(withSizes("src=f32:?x?:ab dst=f32:?x?:ab", {7, 8}));
  EXPECT_FALSE(withSizes("src=f32:2x3:ab", {7}));
}

TEST(ProblemData, EmptyTensorsMayBePadded) {
  Result<ParsedProblem> problem =
      readProblem("softmax fwd_i src=f32:0x3:s4x1:pad2x4 dst=f32:0x3:s4x1:pad2x4 axis=1", Target::host());
  ASSERT_TRUE(problem) << problem.error().message;
  Result<ProblemData> data = ProblemData::create(*problem, {});
  ASSERT_TRUE(data);
  EXPECT_EQ(data->strayWrites(), "");
}

TEST(ProblemData, CatchesWritesOfEmptyProblems) {
  Result<ParsedProblem> problem =
      readProblem("rnn fwd_i cell=rnn direction=left2right src_layer=f32:0x2x3:abc weights_layer=f32:1x1x3x1x4:abcde "
                  "weights_iter=f32:1x1x4x1x4:abcde dst_layer=f32:0x2x4:abc dst_iter=f32:1x1x2x4:abcd activation=tanh",
                  Target::host());
  ASSERT_TRUE(problem) << problem.error().message;
  ASSERT_TRUE(problem->verified.isNoop);
  Result<ProblemData> data = ProblemData::create(*problem, {});
  ASSERT_TRUE(data);
  EXPECT_EQ(data->strayWrites(), "");
  static_cast<float *>(data->buffer(arg::dst1))[3] = 0;
  EXPECT_EQ(data->strayWrites(), "there is nothing to compute, but dst_iter was written");
}

TEST(ProblemData, MovesWithWhatItHolds) {
  Result<ParsedProblem> problem = readProblem(line, Target::host());
  ASSERT_TRUE(problem);
  Result<ProblemData> data = ProblemData::create(*problem, {});
  ASSERT_TRUE(data);
  const std::string before(static_cast<char *>(data->buffer(1)), 24);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data->buffer(1)) % 4096, 4096u - 24);
  data->moveTo(GuardedSide::Beginning);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data->buffer(1)) % 4096, 0u);
  EXPECT_EQ(std::string(static_cast<char *>(data->buffer(1)), 24), before);
  EXPECT_EQ(data->strayWrites(), "");
}

TEST(ProblemData, InPlaceNeedsEqualSides) {
  Result<ParsedProblem> same = readProblem(line, Target::host());
  Result<ParsedProblem> other =
      readProblem("softmax fwd_i alg=accurate src=f32:2x3:ab dst=f32:2x3:ba axis=1", Target::host());
  ASSERT_TRUE(same && other);
  DataOptions options;
  options.inPlace = true;
  Result<ProblemData> shared = ProblemData::create(*same, options);
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->buffer(1), shared->buffer(17));
  EXPECT_FALSE(ProblemData::create(*other, options));
}

TEST(Output, Units) {
  EXPECT_EQ(formatNs(12.34), "12.3 ns");
  EXPECT_EQ(formatNs(999.7), "1.00 us");
  EXPECT_EQ(formatNs(1.234e6), "1.23 ms");
  EXPECT_EQ(formatNs(2e10), "20.0 s");
  EXPECT_EQ(formatBytes(512), "512 B");
  EXPECT_EQ(formatBytes(1536), "1.50 KiB");
}

} // namespace
