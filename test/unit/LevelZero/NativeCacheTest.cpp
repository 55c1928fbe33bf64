//===- NativeCacheTest.cpp - Binaries of the driver in the disk cache -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Artifact/Artifact.h"
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#ifdef QUERN_TEST_HAS_COMPILER

using namespace quern;

namespace {

const char *const line = "softmax fwd_i src=f32:3x20:ab dst=f32:3x20:ab axis=1";

/// Creates and runs the primitive; returns the origin of its kernel.
quern_origin_t run() {
  const engine device(engine::kind::gpu, 0);
  const primitive_desc desc(device, line);
  const primitive kernel(desc);
  const memory src(desc.src_desc(), device), dst(desc.dst_desc(), device);
  auto *elements = src.map_data<float>();
  std::fill_n(elements, 60, 1.0f);
  src.unmap_data(elements);
  stream order(device);
  kernel.execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
  order.wait();
  elements = dst.map_data<float>();
  for (int i = 0; i < 60; ++i)
    EXPECT_NEAR(elements[i], 0.05f, 1e-6f) << i;
  dst.unmap_data(elements);
  return kernel.info().origin;
}

/// Returns the path of a cached driver binary and its artifact.
std::pair<std::filesystem::path, Artifact> findBinary(const std::string &directory) {
  for (const auto &entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (Result<Artifact> artifact = Artifact::parse(bytes); artifact && artifact->codeKind == CodeKind::DeviceBinary)
      return {entry.path(), std::move(*artifact)};
  }
  return {};
}

TEST(NativeCache, ABinaryIsKeptTakenAndReplacedIfTheDriverRefusesIt) {
  const test::TemporaryDirectory directory;
  const test::ScopedCaches caches(directory.path);
  EXPECT_EQ(run(), quern_origin_compiled);
  auto [path, kept] = findBinary(directory.path);
  ASSERT_FALSE(path.empty()) << "no binary was stored";

  test::ScopedCaches::emptyMemory();
  quern_cache_statistics_t before = test::statistics();
  EXPECT_EQ(run(), quern_origin_disk);
  quern_cache_statistics_t after = test::statistics();
  EXPECT_EQ(after.disk_stores, before.disk_stores) << "the binary was already stored";
  EXPECT_EQ(after.disk_rejected, before.disk_rejected);

  Artifact damaged = kept;
  damaged.code = "of another driver, in a form that this one does not know";
  std::ofstream(path, std::ios::binary) << damaged.serialize();
  test::ScopedCaches::emptyMemory();
  before = after;
  EXPECT_EQ(run(), quern_origin_disk);
  after = test::statistics();
  EXPECT_EQ(after.disk_rejected, before.disk_rejected + 1);
  EXPECT_EQ(after.disk_stores, before.disk_stores + 1);
  EXPECT_NE(findBinary(directory.path).second.code, damaged.code);
}

} // namespace

#endif // QUERN_TEST_HAS_COMPILER
