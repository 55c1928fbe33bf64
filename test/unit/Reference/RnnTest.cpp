//===- RnnTest.cpp - The reference of RNNs on small problems -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests problems that are small enough to compute by hand, and relations between problems. Larger ones are tested
// against PyTorch, JAX and ONNX Runtime (RnnModelsTest) and oneDNN (quern-conformance --cases=rnn --peer=...).
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Registry.h"
#include "Primitives/Rnn/Workspace.h"
#include "Reference/Elements.h"
#include "Reference/Judge.h"
#include "Reference/TestData/TestData.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace quern;

namespace {

using Values = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A verified problem with a buffer for each argument.
class Example {
public:
  explicit Example(std::string_view line, FillKind fill = FillKind::Dense) {
    Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
    EXPECT_TRUE(desc) << desc.error().message;
    Result<VerifiedProblem> verified = desc ? verifyRnn(*desc, Target{CpuIsa::Avx2}, nullptr) : desc.takeError();
    EXPECT_TRUE(verified) << verified.error().message;
    if (!verified)
      return;
    problem = *verified;
    for (const ArgumentInfo &argument : problem.arguments) {
      std::vector<char> &buffer = buffers[argument.index];
      buffer.assign(static_cast<size_t>(argument.desc.bytes()), 0);
      if (!argument.isOutput)
        fillInput(problem.desc, argument.index, argument.desc, fill, 1, buffer.data());
    }
  }
  const TensorDesc &descOf(int32_t argument) const {
    for (const ArgumentInfo &info : problem.arguments)
      if (info.index == argument)
        return info.desc;
    static const TensorDesc none;
    return none;
  }
  void set(int32_t argument, const Values &values) { scatter(descOf(argument), buffers[argument].data(), values); }
  Values get(int32_t argument) { return gather(descOf(argument), buffers[argument].data()); }

  ReferenceInputs pointers() {
    ReferenceInputs all;
    for (auto &[argument, buffer] : buffers)
      all[argument] = buffer.data();
    return all;
  }
  std::vector<ReferenceOutput> compute() {
    Result<std::vector<ReferenceOutput>> outputs = computeReference(problem.desc, pointers());
    EXPECT_TRUE(outputs) << outputs.error().message;
    return outputs ? *outputs : std::vector<ReferenceOutput>(1);
  }
  Values result(int32_t argument) {
    for (const ReferenceOutput &output : compute())
      if (output.argument == argument)
        return output.exact;
    return {};
  }
  /// Sets every output to the result of the reference.
  void store() {
    for (const ReferenceOutput &output : compute())
      scatter(output.desc, buffers[output.argument].data(), output.exact);
  }
  bool matches(DataKind data = DataKind::Dense) {
    bool right = true;
    for (const ReferenceOutput &output : compute())
      right = right && judge(problem.desc, output, pointers(), data).isRight;
    return right;
  }

  VerifiedProblem problem;
  std::map<int32_t, std::vector<char>> buffers;
};

void expectNear(const Values &got, const Values &wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], 1e-7) << i;
}

} // namespace

TEST(RnnReference, Vanilla) {
  Example rnn("rnn fwd_i cell=rnn activation=relu alpha=0.5 direction=left2right src_layer=f32:2x1x1:abc "
              "weights_layer=f32:1x1x1x1x1:abcde weights_iter=f32:1x1x1x1x1:abcde bias=f32:1x1x1x1:abcd "
              "dst_layer=f32:2x1x1:abc");
  rnn.set(arg::src, {1, -8}), rnn.set(arg::weights, {2}), rnn.set(arg::weights1, {3}), rnn.set(arg::bias, {0.5});
  expectNear(rnn.result(arg::dst), {2.5, 0.5 * (-16 + 7.5 + 0.5)});
}

// The error of an element is relative to the terms that cancel in it: 1 and -0.99.
TEST(RnnReference, VanillaIsJudgedByItsTerms) {
  for (const char *activation : {"relu", "tanh"}) {
    Example rnn("rnn fwd_t cell=rnn activation=" + std::string(activation) +
                " direction=left2right src_layer=f32:1x1x2:abc weights_layer=f32:1x1x2x1x1:abcde "
                "weights_iter=f32:1x1x1x1x1:abcde bias=f32:1x1x1x1:abcd dst_layer=f32:1x1x1:abc "
                "dst_iter=f32:1x1x1x1:abcd");
    rnn.set(arg::src, {1, 1}), rnn.set(arg::weights, {1, -0.99}), rnn.set(arg::weights1, {1}), rnn.set(arg::bias, {0});
    rnn.store();
    for (int32_t argument : {arg::dst, arg::dst1}) {
      double exact = rnn.get(argument)[0];
      rnn.set(argument, {exact + 1e-7});
      EXPECT_TRUE(rnn.matches()) << activation << " " << argument;
      rnn.set(argument, {exact + 3e-6});
      EXPECT_FALSE(rnn.matches()) << activation << " " << argument;
      rnn.set(argument, {exact});
    }
  }
}

TEST(RnnReference, Lstm) {
  Example rnn("rnn fwd_i cell=lstm direction=left2right src_layer=f32:1x1x1:abc src_iter=f32:1x1x1x1:abcd "
              "src_iter_c=f32:1x1x1x1:abcd weights_layer=f32:1x1x1x4x1:abcde weights_iter=f32:1x1x1x4x1:abcde "
              "weights_peephole=f32:1x1x3x1:abcd weights_projection=f32:1x1x1x1:abcd bias=f32:1x1x4x1:abcd "
              "dst_layer=f32:1x1x1:abc dst_iter=f32:1x1x1x1:abcd dst_iter_c=f32:1x1x1x1:abcd");
  rnn.set(arg::src, {0.5}), rnn.set(arg::src1, {0.25}), rnn.set(arg::src2, {-1}), rnn.set(arg::weights, {1, 2, 3, 4});
  rnn.set(arg::weights1, {4, 3, 2, 1}), rnn.set(arg::weights2, {0.1, 0.2, 0.3}), rnn.set(arg::weights3, {2});
  rnn.set(arg::bias, {0, 0.1, 0.2, 0.3});
  double i = sigmoid(0.5 + 1 - 0.1), f = sigmoid(1 + 0.75 - 0.2 + 0.1), c = -f + i * std::tanh(1.5 + 0.5 + 0.2);
  double o = sigmoid(2 + 0.25 + 0.3 * c + 0.3);
  expectNear(rnn.result(arg::dst), {2 * o * std::tanh(c)});
  expectNear(rnn.result(arg::dst1), {2 * o * std::tanh(c)});
  expectNear(rnn.result(arg::dst2), {c});
}

TEST(RnnReference, GruAndLinearBeforeReset) {
  const std::string tensors =
      " direction=left2right src_layer=f32:1x1x1:abc src_iter=f32:1x1x1x1:abcd weights_layer=f32:1x1x1x3x1:abcde "
      "weights_iter=f32:1x1x1x3x1:abcde dst_layer=f32:1x1x1:abc ";
  auto fill = [](Example &rnn) {
    rnn.set(arg::src, {0.5}), rnn.set(arg::src1, {0.25}), rnn.set(arg::weights, {1, 2, 3}),
        rnn.set(arg::weights1, {4, 3, 2});
  };
  const double u = sigmoid(1.5 + 0.1), r = sigmoid(1.75 + 0.2);
  Example gru("rnn fwd_i cell=gru" + tensors + "bias=f32:1x1x3x1:abcd");
  fill(gru), gru.set(arg::bias, {0.1, 0.2, 0.3});
  double o = std::tanh(1.5 + 2 * r * 0.25 + 0.3);
  expectNear(gru.result(arg::dst), {u * 0.25 + (1 - u) * o});
  Example lbr("rnn fwd_i cell=lbr_gru" + tensors + "bias=f32:1x1x4x1:abcd");
  fill(lbr), lbr.set(arg::bias, {0.1, 0.2, 0.3, 0.4});
  o = std::tanh(1.5 + r * (0.5 + 0.4) + 0.3);
  expectNear(lbr.result(arg::dst), {u * 0.25 + (1 - u) * o});
  Example augru("rnn fwd_i cell=augru" + tensors + "attention=f32:1x1x1:abc bias=f32:1x1x3x1:abcd");
  fill(augru), augru.set(arg::bias, {0.1, 0.2, 0.3}), augru.set(arg::attention, {0.75});
  o = std::tanh(1.5 + 2 * r * 0.25 + 0.3);
  expectNear(augru.result(arg::dst), {0.25 * u * 0.25 + (1 - 0.25 * u) * o});
}

// The two directions of a bidirectional problem equal those of two unidirectional problems.
TEST(RnnReference, DirectionsAreIndependent) {
  auto line = [](std::string_view direction, int count, int width) {
    return concat("rnn fwd_i cell=gru direction=", direction, " src_layer=f32:4x2x3:abc weights_layer=f32:1x", count,
                  "x3x3x5:abcde weights_iter=f32:1x", count, "x5x3x5:abcde dst_layer=f32:4x2x", width, ":abc");
  };
  Example both(line("bidirectional_concat", 2, 10)), sum(line("bidirectional_sum", 2, 5)),
      forward(line("left2right", 1, 5)), backward(line("right2left", 1, 5));
  for (int32_t argument : {arg::weights, arg::weights1}) {
    Values all = both.get(argument), half(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
    all.resize(half.size());
    forward.set(argument, all), backward.set(argument, half);
  }
  Values concatenated = both.result(arg::dst), summed = sum.result(arg::dst), first = forward.result(arg::dst),
         second = backward.result(arg::dst);
  for (size_t row = 0; row < 8; ++row)
    for (size_t o = 0; o < 5; ++o) {
      EXPECT_EQ(concatenated[row * 10 + o], first[row * 5 + o]);
      EXPECT_EQ(concatenated[row * 10 + 5 + o], second[row * 5 + o]);
      EXPECT_EQ(summed[row * 5 + o],
                roundTo(DataType::F32, first[row * 5 + o]) + roundTo(DataType::F32, second[row * 5 + o]));
    }
}

// A shorter sequence gives the same results as a problem of that length; its later results are zero.
TEST(RnnReference, LengthsEndASequence) {
  auto line = [](int steps, int batch, std::string_view more) {
    return concat("rnn fwd_i cell=lstm direction=bidirectional_concat src_layer=f32:", steps, "x", batch,
                  "x3:abc src_iter=f32:2x2x", batch, "x3:abcd src_iter_c=f32:2x2x", batch,
                  "x3:abcd weights_layer=f32:2x2x3x4x3:abcde weights_iter=f32:2x2x3x4x3:abcde dst_layer=f32:", steps,
                  "x", batch, "x6:abc dst_iter=f32:2x2x", batch, "x3:abcd dst_iter_c=f32:2x2x", batch, "x3:abcd", more);
  };
  Example batch(line(5, 3, " seq_lengths=s32:3:a"));
  batch.set(arg::seqLengths, {2, 5, 0});
  Values dst = batch.result(arg::dst), last = batch.result(arg::dst1), src = batch.get(arg::src),
         h = batch.get(arg::src1), c = batch.get(arg::src2), cells = batch.result(arg::dst2);
  for (size_t n : {0, 1}) {
    size_t steps = n == 0 ? 2 : 5;
    Example alone(line(static_cast<int>(steps), 1, ""));
    Values x, h0, c0;
    for (size_t t = 0; t < steps; ++t)
      x.insert(x.end(), &src[(t * 3 + n) * 3], &src[(t * 3 + n) * 3] + 3);
    for (size_t stack = 0; stack < 4; ++stack) {
      h0.insert(h0.end(), &h[(stack * 3 + n) * 3], &h[(stack * 3 + n) * 3] + 3);
      c0.insert(c0.end(), &c[(stack * 3 + n) * 3], &c[(stack * 3 + n) * 3] + 3);
    }
    alone.set(arg::src, x), alone.set(arg::src1, h0), alone.set(arg::src2, c0);
    Values one = alone.result(arg::dst), lastOfOne = alone.result(arg::dst1);
    for (size_t t = 0; t < 5; ++t)
      for (size_t o = 0; o < 6; ++o)
        EXPECT_EQ(dst[(t * 3 + n) * 6 + o], t < steps ? one[t * 6 + o] : 0) << n << ' ' << t;
    for (size_t stack = 0; stack < 4; ++stack)
      for (size_t o = 0; o < 3; ++o)
        EXPECT_EQ(last[(stack * 3 + n) * 3 + o], lastOfOne[stack * 3 + o]);
  }
  for (size_t stack = 0; stack < 4; ++stack)
    for (size_t o = 0; o < 3; ++o) {
      EXPECT_EQ(last[(stack * 3 + 2) * 3 + o], h[(stack * 3 + 2) * 3 + o])
          << "a sequence of length 0 keeps its initial state";
      EXPECT_EQ(cells[(stack * 3 + 2) * 3 + o], c[(stack * 3 + 2) * 3 + o]);
    }
}

// q = RNE(sat(h s + shift)), weights divided by their scales, floating-point results (q - shift) / s.
TEST(RnnReference, Integers) {
  const std::string line =
      "rnn fwd_i cell=rnn activation=tanh direction=left2right src_layer=u8:2x1x2:abc weights_layer=s8:1x1x2x1x1:abcde "
      "weights_iter=s8:1x1x1x1x1:abcde bias=f32:1x1x1x1:abcd attr.rnn.data_scale=100 attr.rnn.data_shift=50 "
      "attr.rnn.weights_scales=20 dst_layer=";
  Example integers(line + "u8:2x1x1:abc"), numbers(line + "f32:2x1x1:abc");
  for (Example *rnn : {&integers, &numbers})
    rnn->set(arg::src, {60, 40, 50, 150}), rnn->set(arg::weights, {10, -20}), rnn->set(arg::weights1, {30}),
        rnn->set(arg::bias, {0.25});
  double first = std::round(std::tanh((10 * 10 - 10 * -20) / 2000.0 + 0.25) * 100 + 50);
  double second = std::round(std::tanh((100 * -20 + (first - 50) * 30) / 2000.0 + 0.25) * 100 + 50);
  expectNear(integers.result(arg::dst), {first, second});
  expectNear(numbers.result(arg::dst), {(first - 50) / 100, (second - 50) / 100});
}

// A byte that is off by one is wrong.
TEST(RnnReference, IntegersAreJudgedStepByStep) {
  Example rnn("rnn fwd_i cell=lstm direction=right2left src_layer=u8:20x2x9:abc weights_layer=s8:1x1x9x4x12:abcde "
              "weights_iter=s8:1x1x12x4x12:abcde dst_layer=u8:20x2x12:abc dst_iter=f32:1x1x2x12:abcd "
              "dst_iter_c=f32:1x1x2x12:abcd attr.rnn.data_scale=100 attr.rnn.data_shift=128 "
              "attr.rnn.weights_scales=150");
  rnn.store();
  EXPECT_TRUE(rnn.matches());
  Values off = rnn.get(arg::dst);
  const size_t at = 19 * 24 + 5; // the step that right2left computes first
  off[at] += off[at] > 128 ? -1 : 1;
  rnn.set(arg::dst, off);
  Verdict verdict = judge(rnn.problem.desc, rnn.compute()[0], rnn.pointers(), DataKind::Dense);
  EXPECT_EQ(verdict.wrong, 1);
  EXPECT_EQ(verdict.position, static_cast<int64_t>(at));
}

// Within a thousandth of a midpoint either byte is right, and the next step must follow the byte that was stored.
// Farther away, only one byte is right.
TEST(RnnReference, MidpointsOfIntegersMayRoundEitherWay) {
  const std::string line =
      "rnn fwd_i cell=rnn activation=relu direction=left2right src_layer=u8:2x1x1:abc weights_layer=s8:1x1x1x1x1:abcde "
      "weights_iter=s8:1x1x1x1x1:abcde bias=f32:1x1x1x1:abcd dst_layer=u8:2x1x1:abc attr.rnn.data_scale=64 "
      "attr.rnn.data_shift=0 attr.rnn.weights_scales=1";
  for (double distance : {0.0, 0.0009, -0.0009, 0.0011, -0.0011}) {
    Example rnn(line);
    // The first state is 10.5 + `distance`, the next one three times the first plus the same bias.
    rnn.set(arg::src, {0, 0}), rnn.set(arg::weights, {1}), rnn.set(arg::weights1, {3}),
        rnn.set(arg::bias, {(10.5 + distance) / 64});
    const double bias = 64 * rnn.get(arg::bias)[0];
    for (double first : {10.0, 11.0}) {
      rnn.set(arg::dst, {first, std::round(3 * first + bias)});
      const bool isNearer = distance > 0 ? first == 11 : first == 10;
      const bool isMidpoint = std::fabs(distance) < 1e-3;
      Verdict verdict = judge(rnn.problem.desc, rnn.compute()[0], rnn.pointers(), DataKind::Dense);
      EXPECT_EQ(verdict.isRight, isMidpoint || isNearer) << distance << ", " << first;
    }
  }
}

// A bf16 state is the value nearest to the exact one; its neighbor is wrong unless the exact value is between them.
TEST(RnnReference, NarrowStatesMustBeTheNearest) {
  Example rnn("rnn fwd_i cell=gru direction=left2right src_layer=bf16:7x2x9:abc weights_layer=bf16:1x1x9x3x12:abcde "
              "weights_iter=bf16:1x1x12x3x12:abcde dst_layer=bf16:7x2x12:abc");
  rnn.store();
  EXPECT_TRUE(rnn.matches());
  const Values right = rnn.get(arg::dst);
  int64_t wrong = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    Values off = right;
    off[i] *= 1 + 0x1p-7;
    rnn.set(arg::dst, off);
    wrong += judge(rnn.problem.desc, rnn.compute()[0], rnn.pointers(), DataKind::Dense).wrong;
  }
  EXPECT_GE(wrong, static_cast<int64_t>(right.size()) * 95 / 100);
}

// Data that training keeps: the header, and sections, each of which follows from the one before by the equations.
TEST(RnnReference, Workspace) {
  Example rnn("rnn fwd_t cell=lstm direction=left2right src_layer=f32:3x2x4:abc src_iter=f32:1x1x2x5:abcd "
              "src_iter_c=f32:1x1x2x5:abcd weights_layer=f32:1x1x4x4x5:abcde weights_iter=f32:1x1x5x4x5:abcde "
              "dst_layer=f32:3x2x5:abc");
  rnn.store();
  EXPECT_TRUE(rnn.matches());
  const RnnDesc &op = std::get<Boxed<RnnDesc>>(rnn.problem.desc.op);
  const char *bytes = rnn.buffers[arg::workspace].data();
  rnn::WorkspaceHeader header = rnn::workspaceHeaderOf(op);
  EXPECT_EQ(std::memcmp(bytes, &header, sizeof(header)), 0);
  rnn::WorkspaceLayout layout = *rnn::workspaceOf(op);
  auto part = [&](rnn::WorkspacePart which) {
    const rnn::WorkspaceSection *section = layout.find(which);
    return gather(section->desc, bytes + section->byteOffset);
  };
  Values gates = part(rnn::WorkspacePart::Gates), cells = part(rnn::WorkspacePart::Cells), states = rnn.get(arg::dst);
  for (size_t row = 2; row < 6; ++row)
    for (size_t o = 0; o < 5; ++o) {
      const double *gate = &gates[row * 20 + o];
      EXPECT_NEAR(cells[row * 5 + o], gate[5] * cells[(row - 2) * 5 + o] + gate[0] * gate[10], 1e-6);
      EXPECT_NEAR(states[row * 5 + o], gate[15] * std::tanh(cells[row * 5 + o]), 1e-6);
    }
}

// Reorders convert to and from packed weights, including the sums of s8.
TEST(RnnReference, PackedWeightsAreReordered) {
  for (std::string type : {"f32", "bf16", "s8"}) {
    std::string src = type == "s8" ? "u8" : type;
    Result<VerifiedProblem> problem = verifyRnn(
        *PrimitiveDesc::parse(concat("rnn fwd_i cell=gru direction=bidirectional_sum src_layer=", src,
                                     ":2x3x13:abc weights_layer=", type, ":1x2x13x3x37:any weights_iter=", type,
                                     ":1x2x37x3x37:any dst_layer=", src, ":2x3x37:abc")),
        Target{CpuIsa::Avx512Bf16}, nullptr);
    ASSERT_TRUE(problem) << problem.error().message;
    TensorDesc packed = std::get<Boxed<RnnDesc>>(problem->desc.op)->weightsLayer;
    TensorDesc plain = *TensorDesc::dense(packed.shape(), packed.dataType);
    std::vector<char> there(static_cast<size_t>(packed.bytes())), from(static_cast<size_t>(plain.bytes()));
    Values values(static_cast<size_t>(plain.elements()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(static_cast<int64_t>(i * 7 % 201) - 100);
    scatter(plain, from.data(), values);
    PrimitiveDesc pack{ReorderDesc{plain, packed}, {}}, unpack{ReorderDesc{packed, plain}, {}};
    ASSERT_TRUE(verify(pack, Target()) && verify(unpack, Target())) << verify(pack, Target()).error().message;
    std::vector<ReferenceOutput> outputs = *computeReference(pack, {{arg::src, from.data()}});
    EXPECT_EQ(outputs.size(), type == "s8" ? 2u : 1u);
    for (const ReferenceOutput &output : outputs)
      scatter(output.desc, there.data(), output.exact);
    EXPECT_EQ((*computeReference(unpack, {{arg::src, there.data()}}))[0].exact, values);
    if (type == "s8") { // sum of the first column: 13 values with stride 111
      double sum = 0;
      for (size_t i = 0; i < 13; ++i)
        sum += values[i * 111];
      EXPECT_EQ(outputs[1].exact[0], sum);
      EXPECT_EQ(outputs[1].desc.elements(), 2 * 3 * packed.paddedDims[4]);
    }
  }
}
