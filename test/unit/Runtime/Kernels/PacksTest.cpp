//===- PacksTest.cpp - Kernels that come from packs -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests packs in the order memory, disk, packs, compiler; without a compiler, for lower instruction sets, with damage,
// and while other threads add and remove them.
//
//===----------------------------------------------------------------------===//
#include "Cache/Packs.h"

#include "Runtime/TestArtifacts.h"
#include "Runtime/TestSupport.h"

#include <atomic>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

namespace quern {
namespace {

namespace fs = std::filesystem;

std::string artifactFor(const std::string &line, const std::string &target = Target::host().text()) {
  return compile(line, quern_form_artifact, target);
}

std::string packOf(const std::vector<std::string> &artifacts) {
  return *writePack({artifacts.begin(), artifacts.end()});
}

/// Returns the target with the host's vector length, if the level has one.
std::string textOfLevel(CpuIsa isa) {
  const int32_t bits = Target::host().vectorBits;
  return targetOfIsa(isa, isSve(isa) ? (isSveLength(bits) ? bits : 256) : 0).text();
}

/// A pack in memory that is registered during the lifetime of this object.
struct AddedPack {
  explicit AddedPack(std::string given) : bytes(std::move(given)) { add_pack_data(bytes.data(), bytes.size()); }
  ~AddedPack() { (void)quern_remove_pack_data(bytes.data()); }
  std::string bytes;
};

class PacksTest : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  stream order{device};
  test::TemporaryDirectory directory;
  test::ScopedCaches caches{directory.path};

  quern_primitive_info_t run(const std::string &line) {
    test::Run run(device, line);
    run.execute(order);
    EXPECT_EQ(run.wrong(), 0u);
    quern_primitive_info_t info = run.kernel.info();
    target = info.target;
    pack = info.pack;
    return info;
  }
  size_t fileCount() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory.path), fs::directory_iterator()));
  }
  std::string target, pack;
};

TEST_F(PacksTest, MemoryThenDiskThenPacksThenCompiler) {
  const std::string line = test::lineOf(3);
  const AddedPack added(packOf({artifactFor(line)}));
  const quern_cache_statistics_t before = test::statistics();
  EXPECT_EQ(run(line).origin, quern_origin_pack);
  EXPECT_EQ(pack, "memory");
  EXPECT_EQ(fileCount(), 0u) << "kernels of packs are not written to disk";
  EXPECT_EQ(run(line).origin, quern_origin_memory);
  EXPECT_EQ(pack, "");
  EXPECT_EQ(run(test::lineOf(4)).origin, quern_origin_compiled);
  const quern_cache_statistics_t after = test::statistics();
  EXPECT_EQ(after.pack_hits, before.pack_hits + 1);
  EXPECT_EQ(after.pack_rejected, before.pack_rejected);
  EXPECT_EQ(after.compilations, before.compilations + 1);
  {
    const AddedPack other(packOf({artifactFor(test::lineOf(4))}));
    test::ScopedCaches::emptyMemory();
    EXPECT_EQ(run(test::lineOf(4)).origin, quern_origin_disk);
  }
}

TEST_F(PacksTest, RemovedPacksAreNotAsked) {
  const std::string line = test::lineOf(3);
  std::optional<test::Run> kept;
  {
    const AddedPack added(packOf({artifactFor(line)}));
    kept.emplace(device, line);
    EXPECT_EQ(kept->kernel.info().origin, quern_origin_pack);
  }
  kept->execute(order);
  EXPECT_EQ(kept->wrong(), 0u) << "a kernel stays valid after its pack is removed";
  test::ScopedCaches::emptyMemory();
  EXPECT_EQ(run(line).origin, quern_origin_compiled);
  EXPECT_EQ(quern_remove_pack_data(&order), quern_invalid_arguments);
}

TEST_F(PacksTest, TheWidestIncludedInstructionSetServes) {
  const std::string line = test::lineOf(5);
  const auto levels = isasOf(archOf(Target::host().isa));
  const std::string lowest(nameOfIsa(levels.front())), highest = textOfLevel(levels.back());
  Target host = Target::host();
  host.l1Kib = 16, host.l2Kib = 256, host.l3Kib = 2048;
  const AddedPack added(packOf({artifactFor(line, lowest), artifactFor(line, host.text()), artifactFor(line, highest),
                                artifactFor(test::lineOf(6), lowest)}));
  EXPECT_EQ(run(line).origin, quern_origin_pack);
  if (Target::host().isa < levels.back())
    EXPECT_EQ(target, host.text()) << "cache sizes may differ";
  EXPECT_EQ(run(test::lineOf(6)).origin, quern_origin_pack);
  EXPECT_EQ(target, lowest);
  test::ScopedCaches::emptyMemory();
  const AddedPack exact(packOf({artifactFor(line)}));
  EXPECT_EQ(run(line).origin, quern_origin_pack);
  EXPECT_EQ(target, Target::host().text()) << "the engine's own target comes first";
}

TEST_F(PacksTest, UnsupportedInstructionSetsAreSkipped) {
  const std::string line = test::lineOf(5);
  const PrimitiveDesc desc = verify(*PrimitiveDesc::parse(line), Target::host())->desc;
  const std::string bytes = packOf({artifactFor(line, "sve:vl=256"), artifactFor(line, "avx2")});
  Packs packs("");
  ASSERT_TRUE(packs.addData(bytes));
  const auto targetFor = [&](std::string_view machine) {
    const Target target = *Target::parse(machine);
    std::string found = "none";
    (void)packs.lookup(desc, keyOf(desc, target), target, [&](Packs::Hit &&hit) {
      found = hit.artifact.target;
      return Result<void>();
    });
    return found;
  };
  EXPECT_EQ(targetFor("avx512_core"), "avx2");
  EXPECT_EQ(targetFor("sse42"), "none");
  EXPECT_EQ(targetFor("sve_bf16:vl=256"), "sve:vl=256");
  EXPECT_EQ(targetFor("sve_bf16:vl=512"), "none") << "the code requires another vector length";
  EXPECT_EQ(targetFor("neon_bf16"), "none");
}

TEST_F(PacksTest, DamagedPacksDoNotFailKernels) {
  const std::string line = test::lineOf(7);
  Artifact artifact = *Artifact::parse(artifactFor(line));
  artifact.code.resize(artifact.code.size() / 2); // well-formed, but cannot be loaded
  const AddedPack added(packOf({artifact.serialize()}));
  const quern_cache_statistics_t before = test::statistics();
  EXPECT_EQ(run(line).origin, quern_origin_compiled);
  EXPECT_EQ(test::statistics().pack_rejected, before.pack_rejected + 1);
}

TEST_F(PacksTest, AnotherKeyUnderTheSameDigestIsNoHit) {
  const std::string line = test::lineOf(8);
  std::string bytes = packOf({artifactFor(test::lineOf(9))});
  const Digest wanted = keyOf(verify(*PrimitiveDesc::parse(line), Target::host())->desc, Target::host()).digest;
  const auto read = Pack::fromBytes(bytes, "a test");
  const std::string_view first = (*read)->entry(0).artifact;
  const auto indexEnd = static_cast<size_t>(first.data() - bytes.data());
  std::memcpy(bytes.data() + indexEnd - 32, &wanted.high, 8);
  std::memcpy(bytes.data() + indexEnd - 24, &wanted.low, 8);
  const Digest checksum = digestOf(std::string_view(bytes).substr(Pack::headerBytes, indexEnd - Pack::headerBytes));
  std::memcpy(bytes.data() + Pack::headerBytes - 16, &checksum.low, 8);
  std::memcpy(bytes.data() + Pack::headerBytes - 8, &checksum.high, 8);
  const AddedPack added(bytes);
  EXPECT_EQ(run(line).origin, quern_origin_compiled);
}

TEST_F(PacksTest, RefusalsHaveAReason) {
  Artifact artifact = *Artifact::parse(artifactFor(test::lineOf(3)));
  artifact.buildId = "another";
  const std::string foreign = packOf({artifact.serialize()});
  EXPECT_EQ(quern_add_pack_data(foreign.data(), foreign.size()), quern_invalid_arguments);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("is of build another"), std::string::npos);
  EXPECT_EQ(quern_add_pack_data("nothing", 7), quern_runtime_error);
  EXPECT_EQ(quern_add_pack((directory.path + "/absent").c_str()), quern_runtime_error);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("absent"), std::string::npos);
  EXPECT_EQ(quern_add_pack(nullptr), quern_invalid_arguments);
  EXPECT_EQ(quern_add_pack_data(nullptr, 3), quern_invalid_arguments);
  EXPECT_EQ(quern_remove_pack_data(nullptr), quern_invalid_arguments);
}

/// Pack files stay registered for the life of the process, so this uses shapes that no other test has.
TEST_F(PacksTest, FilesAreAddedOnce) {
  const std::string path = directory.path + "/a.qpk", line = test::lineOf(1001);
  std::ofstream(path, std::ios::binary) << packOf({artifactFor(line)});
  add_pack(path);
  fs::remove(path);
  EXPECT_NO_THROW(add_pack(path));
  EXPECT_EQ(run(line).origin, quern_origin_pack);
  EXPECT_EQ(pack, path);
}

TEST_F(PacksTest, AProcessWithAPackNeedsNoCompilerAndWritesNothing) {
  const std::string line = test::lineOf(11), path = directory.path + "/a.qpk", cache = directory.path + "/cache";
  std::ofstream(path, std::ios::binary) << packOf({artifactFor(line)});
  std::ofstream(directory.path + "/bad.qpk") << std::string(100, 'x');
  const test::ScopedEnvironment absent("QUERN_COMPILER_LIBRARY", directory.path + "/absent.so");
  const test::ScopedEnvironment listed("QUERN_PACKS", directory.path + "/bad.qpk::" + path);
  EXPECT_EQ(test::finishChild(test::startChild(line, cache)), "origin=5 wrong=0 llvm=0 compiler=0\n");
  EXPECT_FALSE(fs::exists(cache));
  const std::string output = test::finishChild(test::startChild(test::lineOf(12), cache));
  EXPECT_NE(output.find("compiler cannot be loaded"), std::string::npos) << output;
  EXPECT_NE(output.find("bad.qpk is refused: its 100 bytes"), std::string::npos) << output;
}

TEST_F(PacksTest, AreAddedAndRemovedDuringLookups) {
  const std::string bytes = packOf({artifactFor(test::lineOf(13)), artifactFor(test::lineOf(14))});
  std::atomic<bool> isDone{false};
  std::thread changing([&] {
    while (!isDone) {
      const AddedPack added(bytes);
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> looking;
  std::atomic<size_t> wrong{0};
  for (int64_t rows : {13, 14})
    looking.emplace_back([&, rows] {
      for (int i = 0; i < 50; ++i) {
        test::ScopedCaches::emptyMemory();
        test::Run threadRun(device, test::lineOf(rows));
        threadRun.execute(order);
        wrong += threadRun.wrong();
      }
    });
  for (std::thread &thread : looking)
    thread.join();
  isDone = true;
  changing.join();
  EXPECT_EQ(wrong, 0u);
}

} // namespace
} // namespace quern
