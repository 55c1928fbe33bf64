//===- BadInput.h - Table rows and objects for invalid calls --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One table row for each invalid call of a function: the expected status and words of the one-line reason.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_API_BADINPUT_H
#define QUERN_TEST_API_BADINPUT_H

#include "Runtime/TestArtifacts.h"
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace quern::test {

/// A call, its expected status and words of its reason.
struct BadCall {
  const char *call;
  std::function<quern_status_t()> run;
  quern_status_t status;
  const char *words;
};

inline void check(const std::vector<BadCall> &calls) {
  for (const BadCall &bad : calls) {
    EXPECT_EQ(bad.run(), bad.status) << bad.call;
    const std::string message = quern_get_last_error_message();
    EXPECT_NE(message.find(bad.words), std::string::npos) << bad.call << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << bad.call << ": " << message;
  }
}

#define BAD(CALL, STATUS, WORDS) {#CALL, [&] { return CALL; }, quern_##STATUS, WORDS}
#define BAD_NULL(CALL, NAME) BAD(CALL, invalid_arguments, NAME " is null")

/// One object of each kind that calls accept, and variables for their results.
class BadInput : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  stream order{device};
  memory::desc md{{4, 16}, memory::data_type::f32, "ab"}, anyMd{{4, 16}, memory::data_type::f32, "any"};
  memory mem{md, device};
  primitive_attr attr;
  post_ops ops;
  primitive_desc pd{device, lineOf(4)};
  primitive prim{pd};

  quern_engine_t e = device.get(), newEngine = nullptr;
  quern_stream_t s = order.get(), newStream = nullptr;
  quern_memory_desc_t d = md.get(), any = anyMd.get(), newDesc = nullptr;
  quern_memory_t m = mem.get(), newMemory = nullptr;
  quern_primitive_attr_t a = attr.get(), newAttr = nullptr;
  quern_post_ops_t o = ops.get(), newOps = nullptr;
  quern_primitive_desc_t p = pd.get(), newPd = nullptr;
  quern_primitive_t k = prim.get(), newPrimitive = nullptr;
  quern_blob_t newBlob = nullptr;
  const_quern_memory_desc_t constDesc = nullptr;
  int n = 0;
  size_t size = 0;
  float f = 0;
  quern_dims_t dims = {4, 16};
};

} // namespace quern::test

#endif // QUERN_TEST_API_BADINPUT_H
