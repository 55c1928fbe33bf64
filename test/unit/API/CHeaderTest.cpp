//===- CHeaderTest.cpp - The C API from C ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the headers from C: runs HeaderTest.c.
//
//===----------------------------------------------------------------------===//
#include "quern/quern.h"

#include <gtest/gtest.h>

extern "C" quern_status_t quern_test_from_c(float *src, float *dst);

TEST(CHeader, ACProgramRuns) {
  float src[64], dst[64];
  for (int i = 0; i < 64; ++i)
    src[i] = static_cast<float>(i), dst[i] = 0;
  ASSERT_EQ(quern_test_from_c(src, dst), quern_success) << quern_get_last_error_message();
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(dst[i], static_cast<float>((2 + i % 4) * i));
}
