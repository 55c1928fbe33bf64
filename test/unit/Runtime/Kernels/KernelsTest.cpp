//===- KernelsTest.cpp - From a key to a kernel, through the public API ---===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the sources of kernels in one and in several processes, and the effects of a misbehaving compiler or a bad
// cache.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestArtifacts.h"
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <sys/stat.h>
#include <thread>

namespace quern {
namespace {

namespace fs = std::filesystem;

class KernelsTest : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  stream order{device};
  test::TemporaryDirectory directory;
  test::ScopedCaches caches{directory.path};

  quern_origin_t originOf(int64_t rows) {
    test::Run run(device, test::lineOf(rows));
    run.execute(order);
    EXPECT_EQ(run.wrong(), 0u);
    return run.kernel.info().origin;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const fs::directory_entry &entry : fs::directory_iterator(directory.path))
      found.push_back(entry.path());
    return found;
  }
};

TEST_F(KernelsTest, CompiledThenMemoryThenDisk) {
  EXPECT_EQ(originOf(3), quern_origin_compiled);
  EXPECT_EQ(originOf(3), quern_origin_memory);
  test::ScopedCaches::emptyMemory();
  EXPECT_EQ(originOf(3), quern_origin_disk);
  EXPECT_EQ(originOf(3), quern_origin_memory);
}

TEST_F(KernelsTest, ABlobWithAUserScratchpadNeedsNoCompiler) {
  const std::string line = test::lineOf(3) + " attr.scratchpad=user";
  std::vector<uint8_t> blob;
  {
    const test::Run compiled(device, line);
    blob = compiled.kernel.get_cache_blob();
  }
  quern_set_disk_cache(nullptr);
  test::ScopedCaches::emptyMemory();
  const quern_cache_statistics_t before = test::statistics();
  const primitive_desc desc(device, line);
  const primitive kernel(desc, blob);
  EXPECT_EQ(kernel.info().origin, quern_origin_blob);
  (void)desc.scratchpad_desc();
  const quern_cache_statistics_t after = test::statistics();
  EXPECT_EQ(after.compilations, before.compilations);
  EXPECT_EQ(after.memory_misses, before.memory_misses);
}

TEST_F(KernelsTest, InfoDescribesTheKernel) {
  test::Run compiled(device, test::lineOf(3));
  const quern_primitive_info_t info = compiled.kernel.info();
  EXPECT_STREQ(info.linker, "orc");
  EXPECT_STREQ(info.plan, "test kernel");
  EXPECT_GT(info.create_ns, 0);
  EXPECT_GT(info.compile_ns, 0);
  EXPECT_GT(info.code_bytes, 0);
  test::ScopedCaches::emptyMemory();
  EXPECT_STREQ(test::Run(device, test::lineOf(3)).kernel.info().linker, "loader");
}

TEST_F(KernelsTest, LinkerCanBeForced) {
  test::ScopedEnvironment linker("QUERN_LINKER", "loader");
  EXPECT_STREQ(test::Run(device, test::lineOf(3)).kernel.info().linker, "loader");
  test::ScopedCaches::emptyMemory();
  test::ScopedEnvironment other("QUERN_LINKER", "orc");
  test::Run run(device, test::lineOf(3));
  EXPECT_STREQ(run.kernel.info().linker, "orc");
  EXPECT_EQ(run.kernel.info().origin, quern_origin_disk);
}

TEST_F(KernelsTest, EightThreadsCompileOnce) {
  test::ScopedEnvironment slow("QUERN_FAKE", "slow");
  const uint64_t before = test::statistics().compilations;
  std::atomic<int> ready{0};
  std::atomic<int> wrong{0}, compiled{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      primitive_desc desc(device, test::lineOf(5));
      for (++ready; ready < 8;)
        std::this_thread::yield();
      test::Run run(device, test::lineOf(5));
      run.execute(order);
      wrong += static_cast<int>(run.wrong());
      compiled += run.kernel.info().origin == quern_origin_compiled;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(test::statistics().compilations, before + 1);
}

TEST_F(KernelsTest, DamagedFileIsReplaced) {
  originOf(3);
  ASSERT_EQ(files().size(), 1u);
  const std::string path = files()[0];
  const uintmax_t size = fs::file_size(path);
  fs::resize_file(path, size / 2);
  test::ScopedCaches::emptyMemory();
  EXPECT_EQ(originOf(3), quern_origin_compiled);
  EXPECT_EQ(fs::file_size(path), size);
  test::ScopedCaches::emptyMemory();
  EXPECT_EQ(originOf(3), quern_origin_disk);
}

TEST_F(KernelsTest, UnloadableFileIsReplaced) {
  // A well-formed artifact whose code cannot be loaded, as a hostile writer with correct checksums may leave.
  primitive_desc desc(device, test::lineOf(3));
  originOf(3);
  const std::string path = files()[0];
  std::ifstream file(path, std::ios::binary);
  Artifact artifact = *Artifact::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  file.close();
  artifact.code.resize(artifact.code.size() / 2);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << artifact.serialize();
  test::ScopedCaches::emptyMemory();
  const auto rejected = [] {
    quern_cache_statistics_t statistics{};
    EXPECT_EQ(quern_get_cache_statistics(&statistics), quern_success);
    return statistics.disk_rejected;
  };
  const uint64_t before = rejected();
  EXPECT_EQ(originOf(3), quern_origin_compiled);
  EXPECT_EQ(rejected(), before + 1);
  test::ScopedCaches::emptyMemory();
  EXPECT_EQ(originOf(3), quern_origin_disk);
}

TEST_F(KernelsTest, RefusedDirectoryCostsOnlyTheCache) {
  chmod(directory.path.c_str(), 0777);
  EXPECT_EQ(originOf(3), quern_origin_compiled);
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(quern_set_disk_cache(directory.path.c_str()), quern_runtime_error);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("others may write"), std::string::npos);
  const char *used = nullptr;
  EXPECT_EQ(quern_get_disk_cache(&used), quern_success);
  EXPECT_STREQ(used, "");
  EXPECT_EQ(originOf(4), quern_origin_compiled);
  chmod(directory.path.c_str(), 0700);
}

TEST_F(KernelsTest, MisbehavingCompiler) {
  struct Case {
    const char *mode, *message;
    quern_status_t status;
  };
  for (const Case &test :
       {Case{"refuse", "told to refuse", quern_unimplemented}, Case{"garbage", "not an artifact", quern_internal_error},
        Case{"foreign-key", "another key", quern_internal_error}, Case{"bad-object", "", quern_runtime_error}}) {
    test::ScopedEnvironment mode("QUERN_FAKE", test.mode);
    primitive_desc desc(device, test::lineOf(11));
    EXPECT_EQ(test::statusOf([&] { primitive kernel(desc); }), test.status) << test.mode;
    EXPECT_NE(std::string(quern_get_last_error_message()).find(test.message), std::string::npos)
        << quern_get_last_error_message();
  }
  EXPECT_EQ(originOf(11), quern_origin_compiled) << "failures are not cached";
}

TEST_F(KernelsTest, BlobNeedsNoCompiler) {
  test::Run made(device, test::lineOf(3));
  const std::vector<uint8_t> blob = made.kernel.get_cache_blob();
  primitive loaded(made.desc, blob);
  EXPECT_EQ(loaded.info().origin, quern_origin_blob);
  loaded.execute(order, made.arguments);
  EXPECT_EQ(made.wrong(), 0u);
  std::vector<uint8_t> damaged = blob;
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_EQ(test::statusOf([&] { primitive(made.desc, damaged); }), quern_invalid_arguments);
  EXPECT_EQ(test::statusOf([&] { primitive(primitive_desc(device, test::lineOf(4)), blob); }), quern_invalid_arguments);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("another problem"), std::string::npos);
}

TEST_F(KernelsTest, BlobOfALowerLevelRunsAndOthersAreRefused) {
  test::Run made(device, test::lineOf(3));
  const auto blobFor = [&](const char *target) {
    const std::string bytes = compile(test::lineOf(3), quern_form_artifact, target);
    return std::vector<uint8_t>(bytes.begin(), bytes.end());
  };
  Target lowest{isasOf(archOf(detectedIsa())).front()};
  lowest.l1Kib = 16, lowest.l2Kib = 256, lowest.l3Kib = 2048;
  primitive lower(made.desc, blobFor(lowest.text().c_str()));
  lower.execute(order, made.arguments);
  EXPECT_EQ(made.wrong(), 0u);
  EXPECT_EQ(lower.info().target, lowest.text());
  for (const char *other : {"avx512_core_amx", "neon", "sve_bf16:vl=128", "sve_bf16:vl=512"})
    if (!Target::host().runs(*Target::parse(other))) {
      EXPECT_EQ(test::statusOf([&] { primitive(made.desc, blobFor(other)); }), quern_invalid_arguments);
      EXPECT_NE(std::string(quern_get_last_error_message()).find(concat("for ", other)), std::string::npos);
    }
}

TEST_F(KernelsTest, TwoProcessesShareTheDirectory) {
  std::vector<FILE *> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(test::startChild(test::lineOf(6), directory.path));
  for (FILE *child : children) {
    const std::string output = test::finishChild(child);
    EXPECT_NE(output.find("wrong=0"), std::string::npos) << output;
  }
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(originOf(6), quern_origin_disk);
}

TEST_F(KernelsTest, WarmProcessNeedsNoCompiler) {
  EXPECT_EQ(test::finishChild(test::startChild(test::lineOf(6), directory.path)),
            "origin=0 wrong=0 llvm=0 compiler=1\n");
  EXPECT_EQ(test::finishChild(test::startChild(test::lineOf(6), directory.path)),
            "origin=1 wrong=0 llvm=0 compiler=0\n");
}

TEST(KernelsWithoutCompiler, ReportTheMissingLibrary) {
  test::TemporaryDirectory directory;
  test::ScopedEnvironment absent("QUERN_COMPILER_LIBRARY", directory.path + "/absent.so");
  const std::string output = test::finishChild(test::startChild(test::lineOf(6), "off"));
  EXPECT_NE(output.find("compiler cannot be loaded"), std::string::npos) << output;
  EXPECT_NE(output.find("absent.so"), std::string::npos) << output;
}

} // namespace
} // namespace quern
