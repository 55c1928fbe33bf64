//===- MlirTest.cpp - Functions of the caller's through the bridge --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What was read of equal functions is equal, and nothing that bytes may be does harm.
//
//===----------------------------------------------------------------------===//
#include "Artifact/Artifact.h"
#include "Desc/PrimitiveDesc.h"
#include "Primitives/Registry.h"
#include "Support/Stage.h"
#include "quern-compiler/Bridge.h"

#include "gtest/gtest.h"

namespace quern {
namespace {

const quern_compiler_api &api() { return *quern_compiler_get_api(QUERN_COMPILER_API_VERSION); }

void append(void *context, const void *bytes, size_t size) {
  static_cast<std::string *>(context)->append(static_cast<const char *>(bytes), size);
}

struct Outcome {
  int status = 0;
  std::string result, error;
};

using Call = int (*)(const quern_compile_request *, const quern_byte_sink *, const quern_byte_sink *);

Outcome ask(Call call, const PrimitiveDesc &desc, const char *target = "avx2") {
  Outcome outcome;
  const std::string bytes = desc.canonicalBytes();
  const quern_compile_request request{bytes.data(), bytes.size(), target, QUERN_COMPILER_ARTIFACT, 1};
  const quern_byte_sink result{append, &outcome.result}, error{append, &outcome.error};
  outcome.status = call(&request, &result, &error);
  return outcome;
}

PrimitiveDesc given(std::string module, std::string function = "") {
  PrimitiveDesc desc;
  auto &mlir = desc.op.emplace<MlirDesc>();
  mlir.module = std::move(module);
  mlir.function = std::move(function);
  return desc;
}

MlirDesc readOf(const PrimitiveDesc &desc) {
  const Outcome outcome = ask(api().read, desc);
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  Result<PrimitiveDesc> read = PrimitiveDesc::fromBytes(outcome.result);
  EXPECT_TRUE(read) << read.error().message;
  return read ? std::get<MlirDesc>(read->op) : MlirDesc();
}

/// Twice the sum, or what `op` is instead.
std::string doubling(const std::string &name, const std::string &value, const std::string &op = "arith.addf") {
  return "func.func @" + name + "(%" + value + ": tensor<8x16xf32>) -> tensor<8x16xf32> {\n  %e = tensor.empty() : " +
         "tensor<8x16xf32>\n  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) " +
         "-> (a, b)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%" + value +
         " : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {\n  ^bb0(%x: f32, %o: f32):\n    %s = " + op +
         " %x, %x : f32\n    linalg.yield %s : f32\n  } -> tensor<8x16xf32>\n  return %r : tensor<8x16xf32>\n}\n";
}

TEST(Mlir, EqualFunctionsAreEqual) {
  const MlirDesc read = readOf(given(doubling("f", "v")));
  EXPECT_TRUE(read.module.empty() && read.function.empty());
  EXPECT_EQ(read.uses, "rR");
  ASSERT_EQ(read.args.size(), 2u);
  EXPECT_EQ(read.args[0].tag(), "ab");
  EXPECT_EQ(readOf(given("\n\n" + doubling("other", "value"))), read);
  EXPECT_EQ(readOf(given(doubling("f", "v") + doubling("g", "v", "arith.mulf"), "f")), read);
  EXPECT_FALSE(readOf(given(doubling("f", "v", "arith.mulf"))) == read);
}

TEST(Mlir, WhatWasReadCompiles) {
  PrimitiveDesc desc;
  desc.op = readOf(given(doubling("f", "v")));
  Result<PrimitiveDesc> again = PrimitiveDesc::parse(desc.text());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, desc);
  const Outcome outcome = ask(api().compile, desc);
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  Result<Artifact> artifact = Artifact::parse(outcome.result);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->keyBytes, keyOf(desc, *Target::parse("avx2")).bytes);
  EXPECT_EQ(artifact->arguments.size(), 2u);
}

TEST(Mlir, CodeThatFitsNoArgumentsIsRefused) {
  PrimitiveDesc desc;
  desc.op = readOf(given(doubling("f", "v")));
  auto &mlir = std::get<MlirDesc>(desc.op);
  mlir.args[0].dims[1] = mlir.args[0].paddedDims[1] = 15;
  EXPECT_EQ(ask(api().compile, desc).status, static_cast<int>(Status::InvalidArguments));
  mlir.code = "nonsense";
  EXPECT_EQ(ask(api().compile, desc).status, static_cast<int>(Status::InvalidArguments));
}

TEST(Mlir, BytesThatAreNoModule) {
  const std::string bytecode = std::string("ML\xefR", 4), text = doubling("f", "v");
  for (const std::string &bytes :
       {std::string("\0\0\0\0", 4), std::string("func"), bytecode, bytecode + std::string(200, '\1'), std::string("\""),
        std::string(5000, '('), std::string(5000, '<'), text.substr(0, text.size() / 2)}) {
    const Outcome outcome = ask(api().read, given(bytes));
    EXPECT_EQ(outcome.status, static_cast<int>(Status::InvalidArguments)) << outcome.error;
    EXPECT_TRUE(outcome.result.empty());
    EXPECT_FALSE(outcome.error.empty());
  }
}

TEST(Mlir, WhatWasReadIsNotReadAgain) {
  PrimitiveDesc desc;
  desc.op = readOf(given(doubling("f", "v")));
  EXPECT_EQ(ask(api().read, desc).status, static_cast<int>(Status::InvalidArguments));
  EXPECT_EQ(ask(api().compile, given(doubling("f", "v"))).status, static_cast<int>(Status::InvalidArguments));
}

} // namespace
} // namespace quern
