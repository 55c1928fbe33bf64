//===- CompilerTest.cpp - Descriptors to artifacts through the bridge -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the compiler through the same interface as libquern: bytes in, bytes out, code linked and called. Covers
// determinism, concurrency, errors and the contents of artifacts; the conformance program checks the numbers.
//
//===----------------------------------------------------------------------===//
#include "Artifact/Artifact.h"
#include "BridgeCalls.h"
#include "Desc/Key.h"
#include "Desc/PrimitiveDesc.h"
#include "Primitives/Registry.h"
#include "Targets/Cpu/Codegen.h"
#include "quern/kernel_abi.h"

#include "gtest/gtest.h"

#include <cfenv>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace quern {
namespace {

std::string verifiedBytes(const std::string &line, const std::string &target) {
  auto desc = PrimitiveDesc::parse(line);
  auto parsed = Target::parse(target);
  if (!desc || !parsed)
    return "";
  auto problem = verify(*desc, *parsed);
  return problem ? problem->desc.canonicalBytes() : desc->canonicalBytes();
}

Outcome compile(const std::string &line, const std::string &target, int form, bool verifyIr = true) {
  return ask(api().compile, verifiedBytes(line, target), target.c_str(), form, verifyIr);
}

const std::string line = "softmax fwd_i alg=accurate src=f32:6x50:ab dst=f32:6x50:ab axis=1";

TEST(Compiler, refusesAnotherVersionOfTheBridge) {
  EXPECT_EQ(quern_compiler_get_api(QUERN_COMPILER_API_VERSION + 1), nullptr);
  EXPECT_EQ(api().build_id, compilerBuildId());
}

TEST(Compiler, describesTheKernelInTheArtifact) {
  Outcome outcome = compile(line, "avx2", QUERN_COMPILER_ARTIFACT);
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  auto artifact = Artifact::parse(outcome.result);
  ASSERT_TRUE(artifact) << artifact.error().message;
  auto target = Target::parse("avx2");
  auto desc = PrimitiveDesc::parse(line);
  EXPECT_EQ(artifact->keyBytes, keyOf(verify(*desc, *target)->desc, *target).bytes);
  EXPECT_EQ(artifact->target, target->text());
  EXPECT_EQ(artifact->entries, std::vector<std::string>{"softmax_kernel"});
  ASSERT_EQ(artifact->steps.size(), 1u);
  EXPECT_EQ(artifact->steps[0].iterations, 6);
  EXPECT_GT(artifact->steps[0].nsPerIteration, 0);
  ASSERT_EQ(artifact->arguments.size(), 2u);
  EXPECT_EQ(artifact->arguments[0].bytes, 6 * 50 * 4);
  EXPECT_EQ(artifact->arguments[1].isOutput, 1u);
  EXPECT_FALSE(artifact->plan.empty());
  EXPECT_TRUE(checkSelfContained(artifact->code));
}

/// Lines for which an attribute either is left out of the key or changes the code. Lines with f32 weights come first.
const std::vector<std::string> &linesWithModes() {
  static const std::vector<std::string> lines = {
      "rnn fwd_i cell=lstm direction=left2right src_layer=f32:17x4x40:abc weights_layer=f32:1x1x40x4x40:any "
      "weights_iter=f32:1x1x40x4x40:any dst_layer=f32:17x4x40:abc",
      "rnn fwd_i cell=gru direction=left2right src_layer=f32:1x4x40:abc weights_layer=f32:1x1x40x3x40:abcde "
      "weights_iter=f32:1x1x40x3x40:abcde dst_layer=f32:1x4x40:abc",
      "rnn fwd_t cell=rnn direction=left2right activation=relu src_layer=f32:3x4x40:abc "
      "weights_layer=f32:1x1x40x1x40:abcde weights_iter=f32:1x1x40x1x40:abcde dst_layer=f32:3x4x40:abc",
      "rnn fwd_i cell=lstm direction=left2right src_layer=bf16:3x4x40:abc weights_layer=bf16:1x1x40x4x40:any "
      "weights_iter=bf16:1x1x40x4x40:any dst_layer=bf16:3x4x40:abc",
      "rnn fwd_i cell=lstm direction=left2right src_layer=u8:3x4x40:abc weights_layer=s8:1x1x40x4x40:any "
      "weights_iter=s8:1x1x40x4x40:any dst_layer=u8:3x4x40:abc",
      "gemm src=f32:33x40:ab weights=f32:40x48:ab dst=f32:33x48:ab",
      "softmax fwd_i src=f32:9x67:ab dst=bf16:9x67:ab axis=1",
      "softmax bwd_d dst=f32:9x67:ab diff_dst=f32:9x67:ab diff_src=f32:9x67:ab axis=1",
      "eltwise fwd_i alg=gelu_tanh src=f32:9x67:ab dst=f32:9x67:ab",
      "eltwise bwd_d alg=tanh src=f32:9x67:ab diff_dst=f32:9x67:ab diff_src=f32:9x67:ab",
      "reorder src=f32:9x67:ab dst=s8:9x67:ba attr.scales=dst",
      "binary alg=mul src=f32:9x67:ab src1=f32:1x67:ab dst=f32:9x67:ab",
      "sum scales=1,2 srcs=f32:9x67:ab,f32:9x67:ba dst=f32:9x67:ab",
      "concat axis=1 srcs=f32:9x60:ab,f32:9x7:ab dst=f32:9x67:ab",
  };
  return lines;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// Keys are equal exactly if the code is, and the fpmath mode changes code exactly where docs/primitives/rnn.md says
/// so.
TEST(Compiler, keysDistinguishKernelsOnly) {
  constexpr size_t linesOfF32Weights = 3;
  for (const std::string target : {"avx2", "avx512_core", "avx512_core_bf16", "avx512_core_amx", "spirv64"})
    for (size_t i = 0; i < linesWithModes().size(); ++i) {
      const std::string &base = linesWithModes()[i];
      std::vector<std::string> variants = {base};
      for (const char *mode : {"fpmath=bf16", "fpmath=f16", "fpmath=tf32", "fpmath=any", "fpmath_int=true",
                               "accumulation=any", "accumulation=f16", "deterministic=true", "scratchpad=user"})
        variants.push_back(base + " attr." + mode);
      if (!base.starts_with("rnn")) {
        variants.push_back(replaced(replaced(base, "fwd_i", "fwd_t"), "bwd_d", "bwd"));
        variants.push_back(replaced(base, "attr.scales=dst", "attr.scales=dst(host=true)"));
      }
      std::string firstKey, firstCode;
      for (const std::string &variant : variants) {
        const Outcome outcome = compile(variant, target, QUERN_COMPILER_ARTIFACT, false);
        ASSERT_EQ(outcome.status, 0) << variant << " for " << target << ": " << outcome.error;
        auto artifact = Artifact::parse(outcome.result);
        ASSERT_TRUE(artifact) << artifact.error().message;
        const std::string code = artifact->code + artifact->plan;
        if (firstKey.empty()) {
          firstKey = artifact->keyBytes;
          firstCode = code;
        }
        EXPECT_EQ(artifact->keyBytes == firstKey, code == firstCode) << variant << " for " << target;
        const bool rounds = i < linesOfF32Weights && (variant.ends_with("=bf16") || variant.ends_with("fpmath=any")) &&
                            (target == "avx512_core_bf16" || target == "avx512_core_amx");
        EXPECT_EQ(code != firstCode, rounds) << variant << " for " << target;
      }
    }
}

/// Constants that are computed for a kernel do not depend on the caller's floating-point environment.
TEST(Compiler, compilesTheSameInEveryRoundingMode) {
  const std::string lines[] = {
      "eltwise fwd_i alg=soft_relu alpha=0.3 src=f32:9x67:ab dst=f32:9x67:ab",
      "eltwise bwd_d alg=pow alpha=0.3 beta=1.1 src=f32:9x67:ab diff_dst=f32:9x67:ab diff_src=f32:9x67:ab",
      "eltwise fwd_i alg=clip alpha=-0.5 beta=2.5 src=s32:9x67:ab dst=s8:9x67:ab",
      "softmax fwd_i alg=log src=f32:9x67:ab dst=bf16:9x67:ab axis=1 attr.post_ops=eltwise(alg=swish,alpha=0.1)"};
  for (const std::string &one : lines) {
    const Outcome nearest = compile(one, "avx2", QUERN_COMPILER_ARTIFACT);
    ASSERT_EQ(nearest.status, 0) << nearest.error;
    for (int mode : {FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD}) {
      std::fesetround(mode);
      const Outcome other = compile(one, "avx2", QUERN_COMPILER_ARTIFACT);
      EXPECT_EQ(std::fegetround(), mode);
      std::fesetround(FE_TONEAREST);
      EXPECT_EQ(other.result, nearest.result) << one << " in mode " << mode;
    }
  }
}

TEST(Compiler, linksWhatItCompiled) {
  Outcome outcome = compile(line, "sse42", QUERN_COMPILER_ARTIFACT);
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  void *entry = nullptr, *owner = nullptr;
  std::string error;
  quern_byte_sink sink{append, &error};
  ASSERT_EQ(api().link(outcome.result.data(), outcome.result.size(), &entry, 1, &owner, &sink), 0) << error;
  std::vector<float> src(300), dst(300);
  for (size_t i = 0; i < src.size(); ++i)
    src[i] = static_cast<float>(i * i % 7);
  void *buffers[] = {src.data(), dst.data()};
  std::vector<char> scratch(static_cast<size_t>(Artifact::parse(outcome.result)->scratchBytesPerThread) + 64);
  quern_kernel_args_t args{buffers, scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64};
  reinterpret_cast<quern_kernel_fn>(entry)(&args, 0, 6);
  for (int row = 0; row < 6; ++row) {
    auto at = [row](const std::vector<float> &values, int column) -> double {
      return values[static_cast<size_t>(row * 50 + column)];
    };
    double sum = 0;
    for (int column = 0; column < 50; ++column)
      sum += std::exp(at(src, column));
    for (int column = 0; column < 50; ++column)
      EXPECT_NEAR(at(dst, column), std::exp(at(src, column)) / sum, 1e-7) << row << ", " << column;
  }
  api().release(owner);
}

TEST(Compiler, givesTheSameBytesFromEveryContext) {
  std::string first = compile(line, "avx512_core", QUERN_COMPILER_ARTIFACT, false).result;
  ASSERT_FALSE(first.empty());
  std::vector<std::string> results(4);
  std::vector<std::thread> threads; // more threads than idle contexts, so new ones are created
  for (std::string &result : results)
    threads.emplace_back([&result] {
      for (int i = 0; i < 3; ++i)
        result = compile(line, "avx512_core", QUERN_COMPILER_ARTIFACT, false).result;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &result : results)
    EXPECT_EQ(result, first);
}

TEST(Compiler, compilesDifferentProblemsAtTheSameTime) {
  std::vector<std::thread> threads;
  std::vector<int> failures(4);
  for (size_t thread = 0; thread < failures.size(); ++thread)
    threads.emplace_back([thread, &failures] {
      for (int i = 0; i < 6; ++i) {
        std::string size = std::to_string(3 + 17 * i + static_cast<int>(thread));
        std::string type = i % 2 ? "bf16" : "f32", shape = ":5x" + size + ":ab";
        Outcome outcome = compile("softmax fwd_i alg=log src=" + type + shape + " dst=f32" + shape + " axis=1",
                                  i % 3 ? "avx2" : "sse42", QUERN_COMPILER_ARTIFACT);
        failures[thread] += outcome.status != 0;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int count : failures)
    EXPECT_EQ(count, 0);
}

TEST(Compiler, retiresContextsWithoutAChangeInTheCode) {
  std::string first = compile(line, "avx2", QUERN_COMPILER_OBJECT, false).result;
  for (int i = 0; i < 600; ++i) // more than one context compiles before it is replaced
    ASSERT_EQ(compile(line, "avx2", i % 100 ? QUERN_COMPILER_EMIT : QUERN_COMPILER_OBJECT, false).status, 0);
  EXPECT_EQ(compile(line, "avx2", QUERN_COMPILER_OBJECT, false).result, first);
}

TEST(Compiler, showsEveryTextForm) {
  for (auto [form, expected] :
       {std::pair(QUERN_COMPILER_EMIT, "linalg.generic"), std::pair(QUERN_COMPILER_SCHEDULE, "scf.for"),
        std::pair(QUERN_COMPILER_LOWER, "llvm.func"), std::pair(QUERN_COMPILER_LLVM, "define void @softmax_kernel"),
        std::pair(QUERN_COMPILER_ASM, "softmax_kernel:")}) {
    Outcome outcome = compile(line, "avx2", form);
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    EXPECT_NE(outcome.result.find(expected), std::string::npos) << expected;
    EXPECT_NE(outcome.result.find("src=f32:6x50:ab"), std::string::npos) << "no repro line in the form of " << expected;
  }
}

TEST(Compiler, reportsReasonsOfRefusals) {
  EXPECT_EQ(compile(line, "avx2", QUERN_COMPILER_SPIRV).status, static_cast<int>(Status::Unimplemented));
  Outcome form = compile(line, "avx2", 99);
  EXPECT_EQ(form.status, static_cast<int>(Status::InvalidArguments));
  EXPECT_NE(form.error.find("99"), std::string::npos);
  Outcome empty = compile("softmax fwd_i src=f32:0x50:ab dst=f32:0x50:ab axis=1", "avx2", QUERN_COMPILER_ARTIFACT);
  EXPECT_EQ(empty.status, static_cast<int>(Status::NotRequired)) << empty.error;
  std::string error;
  quern_byte_sink sink{append, &error};
  EXPECT_EQ(api().compile(nullptr, &sink, &sink), static_cast<int>(Status::InvalidArguments));
  quern_compile_request garbage{"garbage", 7, "avx2", QUERN_COMPILER_ARTIFACT, 0};
  EXPECT_NE(api().compile(&garbage, &sink, &sink), 0);
  quern_compile_request target{line.data(), line.size(), "z80", QUERN_COMPILER_ARTIFACT, 0};
  EXPECT_NE(api().compile(&target, nullptr, nullptr), 0);
}

TEST(Compiler, refusesDamagedAndForeignArtifacts) {
  Outcome outcome = compile(line, "sse42", QUERN_COMPILER_ARTIFACT);
  ASSERT_EQ(outcome.status, 0);
  void *entry = nullptr, *owner = nullptr;
  std::string error;
  quern_byte_sink sink{append, &error};
  std::string flipped = outcome.result;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
  EXPECT_NE(api().link(flipped.data(), flipped.size(), &entry, 1, &owner, &sink), 0);
  EXPECT_NE(api().link(outcome.result.data(), outcome.result.size() - 1, &entry, 1, &owner, &sink), 0);
  EXPECT_NE(api().link(outcome.result.data(), outcome.result.size(), &entry, 2, &owner, &sink), 0);
  auto foreign = Artifact::parse(outcome.result);
  foreign->buildId = "0.0.0+other";
  std::string bytes = foreign->serialize();
  EXPECT_NE(api().link(bytes.data(), bytes.size(), &entry, 1, &owner, &sink), 0);
  EXPECT_EQ(owner, nullptr);
  EXPECT_NE(api().link(nullptr, 0, &entry, 1, &owner, &sink), 0);
}

TEST(Compiler, explainsInOneLine) {
  std::string bytes = verifiedBytes(line, "avx512_core"), result, error;
  quern_compile_request request{bytes.data(), bytes.size(), "avx512_core", 0, 0};
  quern_byte_sink resultSink{append, &result}, errorSink{append, &error};
  ASSERT_EQ(api().explain(&request, &resultSink, &errorSink), 0) << error;
  EXPECT_NE(result.find("6 iterations"), std::string::npos) << result;
  EXPECT_EQ(result.find('\n'), std::string::npos);
}

TEST(Compiler, reportsTheTimeOfEachStage) {
  ASSERT_EQ(compile(line, "avx2", QUERN_COMPILER_ARTIFACT, false).status, 0);
  std::string text;
  quern_byte_sink sink{append, &text};
  ASSERT_EQ(api().stage_times(&sink), 0);
  for (const char *stage : {"context ", "emit ", "schedule ", "lower ", "codegen ", "total ", " ms"})
    EXPECT_NE(text.find(stage), std::string::npos) << text;
}

} // namespace
} // namespace quern
