//===- CompilerTest.cpp - The runtime with the real compiler --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the runtime and the compiler together: kernels linked by ORC and by the loader compute the same bits, on any
// number of threads; a process whose kernels are cached maps neither the compiler nor LLVM.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include "Support/Error.h"
#include "Support/NarrowFloat.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace quern {
namespace {

constexpr int64_t columns = 77;

std::string softmaxLine(int64_t rows, const char *alg = "accurate") {
  return concat("softmax fwd_i alg=", alg, " src=f32:", rows, "x", columns, ":ab dst=f32:", rows, "x", columns,
                ":ab axis=1");
}

/// Returns the result of a softmax of a fixed pattern.
std::vector<float> compute(const engine &device, const std::string &line, quern_primitive_info_t *info = nullptr) {
  test::Run run(device, line);
  for (size_t i = 0; i < run.src.size(); ++i)
    run.src[i] = static_cast<float>(static_cast<int>(i * 7919 % 1000) - 500) * 0.01f;
  run.execute(stream(device));
  if (info)
    *info = run.kernel.info();
  return run.dst;
}

class CompilerTest : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  test::TemporaryDirectory directory;
  test::ScopedCaches caches{directory.path};
};

TEST_F(CompilerTest, RowsSumToOne) {
  const std::vector<float> result = compute(device, softmaxLine(13));
  for (size_t row = 0; row < 13; ++row) {
    double sum = 0;
    for (size_t column = 0; column < columns; ++column)
      sum += result[row * columns + column];
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST_F(CompilerTest, BothLinkersGiveTheSameResults) {
  for (const char *alg : {"accurate", "log", "accurate_inf_as_zero"}) {
    std::vector<float> results[2];
    const char *linkers[] = {"orc", "loader"};
    for (int i = 0; i < 2; ++i) {
      test::ScopedEnvironment linker("QUERN_LINKER", linkers[i]);
      test::ScopedCaches::emptyMemory();
      quern_primitive_info_t info;
      results[i] = compute(device, softmaxLine(13, alg), &info);
      EXPECT_STREQ(info.linker, linkers[i]);
    }
    EXPECT_EQ(results[0], results[1]) << alg;
  }
}

TEST_F(CompilerTest, ThreadsDoNotChangeABit) {
  const int saved = get_num_threads();
  set_num_threads(1);
  const std::vector<float> one = compute(device, softmaxLine(1000));
  for (int threads : {2, 3, 8}) {
    set_num_threads(threads);
    EXPECT_EQ(compute(device, softmaxLine(1000)), one) << threads;
  }
  set_num_threads(saved);
}

TEST_F(CompilerTest, AcceptsTheMaximumNumberOfArguments) {
  memory::desc md({2, 8}, memory::data_type::f32, "ab"), operand({1, 8}, memory::data_type::s8, "ab");
  post_ops ops;
  primitive_attr attr;
  for (int i = 0; i < 32; ++i) {
    ops.append_binary(i % 2 ? algorithm::binary_sub : algorithm::binary_add, operand);
    attr.set_scales_mask(QUERN_ARG_ATTR_MULTIPLE_POST_OP(i) | QUERN_ARG_SRC_1, 0);
    attr.set_zero_points_mask(QUERN_ARG_ATTR_MULTIPLE_POST_OP(i) | QUERN_ARG_SRC_1, 0);
  }
  attr.set_post_ops(ops);
  attr.set_scales_mask(QUERN_ARG_SRC, 0);
  attr.set_scales_mask(QUERN_ARG_DST, 0);
  softmax_forward::primitive_desc desc(device, prop_kind::forward, algorithm::softmax_accurate, md, md, 1, attr);
  float x[16] = {}, y[16], one = 1, half = 0.5f;
  int8_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int32_t zeroPoint = 3;
  std::unordered_map<int, memory> arguments = {
      {QUERN_ARG_SRC, memory(md, device, x)},
      {QUERN_ARG_DST, memory(md, device, y)},
      {QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC,
       memory(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC), device, &one)},
      {QUERN_ARG_ATTR_SCALES | QUERN_ARG_DST,
       memory(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_ATTR_SCALES | QUERN_ARG_DST), device, &half)}};
  for (int i = 0; i < 32; ++i) {
    const int index = QUERN_ARG_ATTR_MULTIPLE_POST_OP(i) | QUERN_ARG_SRC_1;
    arguments[index] = memory(operand, device, values);
    arguments[QUERN_ARG_ATTR_SCALES | index] =
        memory(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_ATTR_SCALES | index), device, i == 0 ? &one : &half);
    arguments[QUERN_ARG_ATTR_ZERO_POINTS | index] =
        memory(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_ATTR_ZERO_POINTS | index), device, &zeroPoint);
  }
  ASSERT_EQ(arguments.size(), 100u);
  primitive kernel(desc);
  kernel.execute(stream(device), arguments);
  // Additions and subtractions cancel, except that the first adds the full value and the second subtracts half of it.
  for (int i = 0; i < 16; ++i)
    EXPECT_NEAR(y[i], (0.125f + static_cast<float>(values[i % 8] - 3) / 2) / 0.5f, 1e-4) << i;
  arguments.erase(QUERN_ARG_ATTR_ZERO_POINTS | QUERN_ARG_ATTR_MULTIPLE_POST_OP(31) | QUERN_ARG_SRC_1);
  EXPECT_EQ(test::statusOf([&] { kernel.execute(stream(device), arguments); }), quern_invalid_arguments);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("zero_points.post31.src_1"), std::string::npos);
}

/// Long rows: contiguous with and without a remainder, two rows, and strided; accurate and log.
TEST_F(CompilerTest, SplitRowsAreTheSameBitsOnAnyNumberOfThreads) {
  const int saved = get_num_threads();
  for (const char *line : {"softmax fwd_i src=f32:1x131072:ab dst=f32:1x131072:ab axis=1",
                           "softmax fwd_i alg=log src=f32:1x150011:ab dst=f32:1x150011:ab axis=1",
                           "softmax fwd_i src=f32:2x300001:ab dst=f32:2x300001:ab axis=1",
                           "softmax fwd_i src=f32:90001x17:ab dst=f32:90001x17:ab axis=0"}) {
    set_num_threads(1);
    quern_primitive_info_t info;
    test::Run one(device, line);
    EXPECT_NE(std::string(one.kernel.info().plan).find("chunks"), std::string::npos) << line;
    EXPECT_GT(one.kernel.info().shared_bytes, 0);
    const std::vector<float> expected = compute(device, line, &info);
    for (int threads : {2, 3, 7}) {
      set_num_threads(threads);
      const std::vector<float> found = compute(device, line);
      EXPECT_EQ(std::memcmp(found.data(), expected.data(), expected.size() * sizeof(float)), 0)
          << line << " on " << threads;
    }
  }
  set_num_threads(saved);
}

/// Converts elements of a type to floats and back.
struct NarrowType {
  const char *name;
  size_t bytes;
  NarrowFormat format;
  void store(char *at, float value) const {
    const auto code = static_cast<uint16_t>(bytes == 2 ? encodeNarrow(value, format) : 0);
    std::memcpy(at, bytes == 2 ? static_cast<const void *>(&code) : &value, bytes);
  }
  float load(const char *at) const {
    float value;
    uint16_t code;
    std::memcpy(bytes == 2 ? static_cast<void *>(&code) : &value, at, bytes);
    return bytes == 2 ? static_cast<float>(decodeNarrow(code, format)) : value;
  }
};

/// Computes a softmax of `rows` equal rows and returns the first row of the result.
std::vector<float> firstRow(const engine &device, const NarrowType &type, const char *alg, int64_t rows,
                            const std::vector<float> &row) {
  const std::string tensor = concat("=", type.name, ":", rows, "x", row.size(), ":ab ");
  primitive_desc desc(device, concat("softmax fwd_i alg=", alg, " src", tensor, "dst", tensor, "axis=1"));
  primitive kernel(desc);
  EXPECT_EQ(std::string(kernel.info().plan).find("chunks") != std::string::npos, rows == 1) << kernel.info().plan;
  std::vector<char> src(static_cast<size_t>(rows) * row.size() * type.bytes), dst(src.size());
  for (size_t i = 0; i < src.size() / type.bytes; ++i)
    type.store(src.data() + i * type.bytes, row[i % row.size()]);
  kernel.execute(stream(device), {{QUERN_ARG_SRC, memory(desc.src_desc(), device, src.data())},
                                  {QUERN_ARG_DST, memory(desc.dst_desc(), device, dst.data())}});
  std::vector<float> result(row.size());
  for (size_t i = 0; i < row.size(); ++i)
    result[i] = type.load(dst.data() + i * type.bytes);
  return result;
}

/// Expected values: the same row computed as one of 17 rows, which are not split.
TEST_F(CompilerTest, SplitRowsHandleSpecialValuesLikeWholeRows) {
  constexpr size_t length = 70001;
  constexpr float inf = INFINITY;
  const NarrowType types[] = {{"f32", 4, f16Format}, {"bf16", 2, bf16Format}, {"f16", 2, f16Format}};
  std::vector<float> plain(length);
  for (size_t i = 0; i < length; ++i)
    plain[i] = static_cast<float>(static_cast<int>(i * 7919 % 1000) - 500) * 0.01f;
  std::vector<std::vector<float>> rows(6, plain);
  rows[0][40000] = NAN;
  rows[1][length - 1] = inf;
  rows[2].assign(length, -inf);
  std::fill_n(rows[3].begin(), 60000, -inf); // the first chunks are all -inf
  rows[4][length - 1] = 3000;                // all other results underflow
  std::fill(rows[5].begin(), rows[5].end(), 1e-6f);
  for (const NarrowType &type : types)
    for (const char *alg : {"accurate", "log", "accurate_inf_as_zero"})
      for (size_t r = 0; r < rows.size(); ++r) {
        const std::vector<float> split = firstRow(device, type, alg, 1, rows[r]),
                                 whole = firstRow(device, type, alg, 17, rows[r]);
        const double tolerance = type.bytes == 4                                       ? 1e-6
                                 : type.format.mantissaBits == bf16Format.mantissaBits ? 8e-3
                                                                                       : 1e-3;
        for (size_t i = 0; i < length; ++i) {
          const bool same = split[i] == whole[i] || (std::isnan(split[i]) && std::isnan(whole[i]));
          ASSERT_TRUE(same || std::abs(split[i] - whole[i]) <= tolerance * std::abs(whole[i]))
              << type.name << " " << alg << ", row " << r << ", element " << i << ": " << split[i] << " and "
              << whole[i];
        }
      }
}

TEST_F(CompilerTest, EveryEmitFormIsAvailable) {
  for (quern_code_form_t form : {quern_form_emit, quern_form_schedule, quern_form_lower, quern_form_llvm,
                                 quern_form_asm, quern_form_object, quern_form_artifact})
    EXPECT_FALSE(compile(softmaxLine(4), form, "avx2").empty()) << form;
  EXPECT_EQ(test::statusOf([] { compile(softmaxLine(4), quern_form_spirv, "avx2"); }), quern_unimplemented);
}

TEST_F(CompilerTest, AnotherProcessCompilesTheSame) {
  for (quern_code_form_t form :
       {quern_form_emit, quern_form_schedule, quern_form_lower, quern_form_llvm, quern_form_asm, quern_form_artifact}) {
    const std::string here = compile(softmaxLine(4), form, "avx2");
    test::ScopedEnvironment choice("QUERN_COMPILER", "process");
    EXPECT_EQ(compile(softmaxLine(4), form, "avx2"), here) << form;
  }
  for (quern_code_form_t form :
       {quern_form_schedule, quern_form_lower, quern_form_asm, quern_form_spirv, quern_form_artifact}) {
    const std::string here = compile(softmaxLine(4), form, "spirv64:sg=16");
    EXPECT_GT(here.size(), 1000u);
    test::ScopedEnvironment choice("QUERN_COMPILER", "process");
    EXPECT_EQ(compile(softmaxLine(4), form, "spirv64:sg=16"), here) << form;
  }
  const std::vector<float> here = compute(device, softmaxLine(13));
  test::ScopedEnvironment choice("QUERN_COMPILER", "process");
  test::ScopedCaches::emptyMemory();
  quern_set_disk_cache(nullptr);
  quern_primitive_info_t info;
  EXPECT_EQ(compute(device, softmaxLine(13), &info), here);
  EXPECT_EQ(info.origin, quern_origin_compiled);
  EXPECT_STREQ(info.linker, "loader");
  EXPECT_EQ(test::statusOf([] { compile(softmaxLine(4), quern_form_spirv, "avx2"); }), quern_unimplemented);
}

/// Returns the output of a child process that creates and runs the problem.
std::string runChild(const std::string &line, const std::string &cache) {
  std::array<char, 4096> self{};
  if (readlink("/proc/self/exe", self.data(), self.size() - 1) <= 0)
    return "no path";
  FILE *child = popen(
      concat("QUERN_CACHE_DIR='", cache, "' " QUERN_EMULATOR "'", self.data(), "' --child '", line, "'").c_str(), "r");
  std::string output;
  for (int c; child && (c = fgetc(child)) != EOF;)
    output += static_cast<char>(c);
  if (child)
    pclose(child);
  return output;
}

TEST_F(CompilerTest, LoadsNoLlvmIfAnotherProcessCompiles) {
  test::ScopedEnvironment choice("QUERN_COMPILER", "process");
  const std::string cold = runChild(softmaxLine(13), directory.path);
  EXPECT_EQ(cold.find("origin=0"), 0u) << cold;
  EXPECT_NE(cold.find("llvm=0 compiler=0"), std::string::npos) << cold;
}

TEST_F(CompilerTest, WarmProcessMapsNoLlvm) {
  const std::string cold = runChild(softmaxLine(13), directory.path), warm = runChild(softmaxLine(13), directory.path);
  EXPECT_EQ(cold.find("origin=0"), 0u) << cold;
  EXPECT_NE(cold.find("llvm=1"), std::string::npos) << cold;
  EXPECT_EQ(warm.find("origin=1"), 0u) << warm;
  EXPECT_NE(warm.find("llvm=0 compiler=0"), std::string::npos) << warm;
}

} // namespace
} // namespace quern
