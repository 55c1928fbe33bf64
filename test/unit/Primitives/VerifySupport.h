//===- VerifySupport.h - Helpers of the tests of verifiers ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_PRIMITIVES_VERIFYSUPPORT_H
#define QUERN_TEST_PRIMITIVES_VERIFYSUPPORT_H

#include "Primitives/Registry.h"

#include <gtest/gtest.h>

namespace quern::test {

inline constexpr Status invalid = Status::InvalidArguments, unsupported = Status::Unimplemented;

/// A line, and the constraint, status and words with which it is refused.
struct Refusal {
  std::string_view constraint;
  std::string line;
  Status status;
  std::string_view fragment;
};

inline PrimitiveDesc parsed(std::string_view line) {
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
  EXPECT_TRUE(desc) << desc.error().message;
  return desc ? *desc : PrimitiveDesc();
}

inline void expectRefused(const PrimitiveDesc &desc, Status status, std::string_view fragment, std::string_view what) {
  Result<VerifiedProblem> problem = verify(desc, Target());
  ASSERT_FALSE(problem) << what;
  EXPECT_EQ(problem.error().status, status) << what << ": " << problem.error().message;
  EXPECT_NE(problem.error().message.find(fragment), std::string::npos) << what << ": " << problem.error().message;
  EXPECT_EQ(problem.error().message.find('\n'), std::string::npos);
}

/// Expects that each line is refused with its words and its constraint.
inline void expectAllRefused(std::string_view primitive, std::span<const Refusal> refusals) {
  for (const Refusal &one : refusals) {
    expectRefused(parsed(one.line), one.status, one.fragment, one.line);
    expectRefused(parsed(one.line), one.status, concat("(", primitive, " ", one.constraint, ")"), one.line);
  }
}

/// Returns "text,text,…,text".
inline std::string repeated(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all.append(i ? "," : "").append(text);
  return all;
}

inline VerifiedProblem verified(std::string_view line) {
  Result<VerifiedProblem> problem = verify(parsed(line), Target{CpuIsa::Avx2});
  EXPECT_TRUE(problem) << line << ": " << problem.error().message;
  return problem ? *problem : VerifiedProblem();
}

} // namespace quern::test

#endif // QUERN_TEST_PRIMITIVES_VERIFYSUPPORT_H
