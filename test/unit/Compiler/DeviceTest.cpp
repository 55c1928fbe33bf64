//===- DeviceTest.cpp - Compiling for devices ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests compilation for devices. LLVM's SPIR-V back end has static state, so no compilation may affect a later one.
//
//===----------------------------------------------------------------------===//
#include "Artifact/Artifact.h"
#include "Compiler/Compiler.h"

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <thread>

using namespace quern;

namespace {

/// Lines with several blocks, several kernels in a module, open sizes and half bytes.
constexpr const char *lines[] = {
    "softmax fwd_i alg=accurate src=f32:6x50:ab dst=f32:6x50:ab axis=1",
    "softmax fwd_i alg=log src=bf16:?x300:ab dst=bf16:?x300:ab axis=1",
    "reorder src=s4:20x3x2x68:abcd dst=e8m0:20x3x2x68:abcd attr.zero_points=src(mask=9,type=s4) "
    "attr.post_ops=sum(scale=0.5,type=e8m0)",
    "reorder src=f32:33x17:ab dst=s4:33x17:ba",
    "reorder src=f32:5x7x9:abc dst=s8:5x7x9:aBc16b",
    ("rnn fwd_i cell=lstm direction=left2right src_layer=f32:5x2x16:abc weights_layer=f32:1x1x16x4x16:any "
     "weights_iter=f32:1x1x16x4x16:any bias=f32:1x1x4x16:abcd dst_layer=f32:5x2x16:abc"),
};

Result<std::string> compileFor(const char *line, const char *target, int32_t form = QUERN_COMPILER_ARTIFACT) {
  auto desc = PrimitiveDesc::parse(line);
  auto parsed = Target::parse(target);
  if (!desc || !parsed)
    return desc ? parsed.takeError() : desc.takeError();
  return compileProblem(*desc, *parsed, form, /*verifyIr=*/true);
}

constexpr const char *device = "spirv64:sg=16+32,group=512,slm=65536,f64";

} // namespace

TEST(Device, ArtifactsSayHowGroupsRun) {
  for (const char *line : lines) {
    Result<std::string> bytes = compileFor(line, device);
    ASSERT_TRUE(bytes) << bytes.error().message;
    Result<Artifact> artifact = Artifact::parse(*bytes);
    ASSERT_TRUE(artifact) << artifact.error().message;
    EXPECT_EQ(artifact->codeKind, CodeKind::SpirV);
    EXPECT_EQ(artifact->target, device);
    EXPECT_EQ(artifact->scratchBytesPerThread, 0);
    ASSERT_EQ(artifact->groups.size(), artifact->entries.size());
    for (const EntryGroup &group : artifact->groups) {
      EXPECT_GE(group.workItems, 1);
      EXPECT_LE(group.workItems, 512);
      EXPECT_LE(group.memoryBytes, 65536);
    }
    uint32_t magic = 0;
    ASSERT_GE(artifact->code.size(), 20u);
    std::memcpy(&magic, artifact->code.data(), sizeof(magic));
    EXPECT_EQ(magic, 0x07230203u);
    for (const std::string &entry : artifact->entries)
      EXPECT_NE(artifact->code.find(entry), std::string::npos) << entry;
  }
}

TEST(Device, CompilationsAreIndependent) {
  std::map<std::string, std::string> first;
  for (int round = 0; round < 12; ++round)
    for (const char *line : lines) {
      Result<std::string> bytes = compileFor(line, device, QUERN_COMPILER_SPIRV);
      ASSERT_TRUE(bytes) << bytes.error().message;
      auto [known, isNew] = first.try_emplace(line, *bytes);
      EXPECT_EQ(known->second, *bytes) << line << ", round " << round;
    }
}

TEST(Device, ThreadsCompileConcurrently) {
  std::map<std::string, std::string> alone;
  for (const char *line : lines)
    alone[line] = *compileFor(line, device, QUERN_COMPILER_SPIRV);
  std::vector<std::thread> threads;
  std::atomic<int> different = 0;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < 2 * std::size(lines); ++i) {
        const char *line = lines[(i + static_cast<size_t>(thread)) % std::size(lines)];
        Result<std::string> bytes = compileFor(line, device, QUERN_COMPILER_SPIRV);
        different += !bytes || *bytes != alone[line];
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(different, 0);
}

TEST(Device, UnavailableEmitFormsAreRefused) {
  Result<std::string> object = compileFor(lines[0], device, QUERN_COMPILER_OBJECT);
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().status, Status::Unimplemented);
  Result<std::string> module = compileFor(lines[0], "avx2", QUERN_COMPILER_SPIRV);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().status, Status::Unimplemented);
}
