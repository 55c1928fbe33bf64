//===- SourcesTest.cpp - The sources of kernels ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests which outcome of a list of sources a search returns, and that a canceled request compiles nothing.
//
//===----------------------------------------------------------------------===//
#include "Kernels/Sources.h"
#include "Runtime/TestArtifacts.h"
#include "Runtime/TestExecutable.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

int misses = 0;

Lookup<AcquiredKernel> hit(KernelSearch &) { return AcquiredKernel{.origin = quern_origin_disk}; }
Lookup<AcquiredKernel> laterHit(KernelSearch &) { return AcquiredKernel{.origin = quern_origin_pack}; }
Lookup<AcquiredKernel> miss(KernelSearch &) {
  ++misses;
  return {};
}
Lookup<AcquiredKernel> fail(KernelSearch &) { return runtimeError("the source fails"); }

class SourcesTest : public testing::Test {
protected:
  Lookup<AcquiredKernel> find(std::initializer_list<KernelSource> sources) {
    KernelSearch search{request};
    return findFirst({sources.begin(), sources.size()}, search);
  }

  const Target target;
  const VerifiedProblem problem = *verify(*PrimitiveDesc::parse(test::lineOf(3)), target);
  const KernelKey key = keyOf(problem.desc, target);
  const std::shared_ptr<Device> onHost;
  const std::atomic<bool> isCut{true};
  KernelRequest request{problem, key, target, onHost};
};

TEST_F(SourcesTest, TheFirstHitEndsTheSearch) {
  misses = 0;
  const Lookup<AcquiredKernel> found = find({miss, hit, laterHit, miss});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->origin, quern_origin_disk);
  EXPECT_EQ(misses, 1);
}

TEST_F(SourcesTest, AFailureOfAnEarlierSourceIsAMiss) {
  EXPECT_TRUE(find({fail, hit}));
  const Lookup<AcquiredKernel> found = find({fail, miss});
  EXPECT_FALSE(found || found.isError());
}

TEST_F(SourcesTest, AFailureOfTheLastSourceIsReturned) {
  const Lookup<AcquiredKernel> found = find({miss, fail});
  ASSERT_TRUE(found.isError());
  EXPECT_EQ(found.error().message, "the source fails");
}

TEST_F(SourcesTest, NoSourceIsAMiss) {
  const Lookup<AcquiredKernel> found = find({});
  EXPECT_FALSE(found || found.isError());
}

TEST_F(SourcesTest, ACanceledRequestCompilesNothing) {
  const uint64_t before = Caches::process().compilations;
  request.isCut = &isCut;
  const Lookup<AcquiredKernel> found = find({compileKernel});
  EXPECT_FALSE(found || found.isError());
  EXPECT_EQ(Caches::process().compilations, before);
}

TEST_F(SourcesTest, TheMemoryCacheHasOnlyKernelsOfTheirKey) {
  const Result<std::shared_ptr<const Executable>> executable =
      test::loadArtifact(test::makeTestArtifact(problem, target), problem);
  ASSERT_TRUE(executable) << executable.error().message;
  const auto entries = [] { return Caches::process().memory.statistics().entries; };
  const uint64_t before = entries();
  KernelSearch search{request};
  EXPECT_FALSE(shareKernel(search, [&] { return miss(search); }));
  EXPECT_TRUE(shareKernel(search, [&] { return fail(search); }).isError());
  const Lookup<AcquiredKernel> ofFamily =
      shareKernel(search, [&] { return AcquiredKernel{*executable, quern_origin_family}; });
  ASSERT_TRUE(ofFamily);
  EXPECT_EQ(ofFamily->executable, *executable);
  EXPECT_EQ(entries(), before);
  const Lookup<AcquiredKernel> compiled =
      shareKernel(search, [&] { return AcquiredKernel{*executable, quern_origin_compiled}; });
  ASSERT_TRUE(compiled);
  EXPECT_EQ(compiled->origin, quern_origin_compiled);
  EXPECT_EQ(entries(), before + 1);
  const Lookup<AcquiredKernel> known = shareKernel(search, [&] { return fail(search); });
  ASSERT_TRUE(known);
  EXPECT_EQ(known->origin, quern_origin_memory);
  EXPECT_EQ(known->executable, *executable);
}

} // namespace
} // namespace quern
