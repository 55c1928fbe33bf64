//===- MlirTest.cpp - Caller-provided functions through the bridge --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that reading equal functions gives equal results, and that malformed bytes are refused without harm.
//
//===----------------------------------------------------------------------===//
#include "Artifact/Artifact.h"
#include "BridgeCalls.h"
#include "Desc/PrimitiveDesc.h"
#include "Primitives/Registry.h"
#include "Support/Stage.h"

#include "gtest/gtest.h"

namespace quern {
namespace {

Outcome askFor(Call call, const PrimitiveDesc &desc, const char *target = "avx2") {
  return ask(call, desc.canonicalBytes(), target);
}

PrimitiveDesc given(std::string module, std::string function = "") {
  PrimitiveDesc desc;
  auto &mlir = desc.op.emplace<MlirDesc>();
  mlir.module = std::move(module);
  mlir.function = std::move(function);
  return desc;
}

MlirDesc readOf(const PrimitiveDesc &desc) {
  const Outcome outcome = askFor(api().read, desc);
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  Result<PrimitiveDesc> read = PrimitiveDesc::fromBytes(outcome.result);
  EXPECT_TRUE(read) << read.error().message;
  return read ? std::get<MlirDesc>(read->op) : MlirDesc();
}

/// Returns a function that doubles the result of `op`, by default a sum.
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

TEST(Mlir, ModulesCompileAfterReading) {
  PrimitiveDesc desc;
  desc.op = readOf(given(doubling("f", "v")));
  Result<PrimitiveDesc> again = PrimitiveDesc::parse(desc.text());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, desc);
  const Outcome outcome = askFor(api().compile, desc);
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
  EXPECT_EQ(askFor(api().compile, desc).status, static_cast<int>(Status::InvalidArguments));
  mlir.code = "nonsense";
  EXPECT_EQ(askFor(api().compile, desc).status, static_cast<int>(Status::InvalidArguments));
}

TEST(Mlir, RefusesBytesThatAreNotAModule) {
  const std::string bytecode = std::string("ML\xefR", 4), text = doubling("f", "v");
  for (const std::string &bytes :
       {std::string("\0\0\0\0", 4), std::string("func"), bytecode, bytecode + std::string(200, '\1'), std::string("\""),
        std::string(5000, '('), std::string(5000, '<'), text.substr(0, text.size() / 2)}) {
    const Outcome outcome = askFor(api().read, given(bytes));
    EXPECT_EQ(outcome.status, static_cast<int>(Status::InvalidArguments)) << outcome.error;
    EXPECT_TRUE(outcome.result.empty());
    EXPECT_FALSE(outcome.error.empty());
  }
}

TEST(Mlir, RefusesToReadProblemsAndToCompileModules) {
  PrimitiveDesc desc;
  desc.op = readOf(given(doubling("f", "v")));
  EXPECT_EQ(askFor(api().read, desc).status, static_cast<int>(Status::InvalidArguments));
  EXPECT_EQ(askFor(api().compile, given(doubling("f", "v"))).status, static_cast<int>(Status::InvalidArguments));
}

/// A function that exceeds a limit is refused without reading it.
TEST(Mlir, RefusesFunctionsBeyondTheLimits) {
  const auto chainOf = [](int operations) {
    std::string text = "func.func @f(%v0: tensor<4xf32>) -> tensor<4xf32> {\n  %e = tensor.empty() : tensor<4xf32>\n";
    for (int i = 0; i < operations; ++i)
      text += "  %v" + std::to_string(i + 1) + " = linalg.exp ins(%v" + std::to_string(i) +
              " : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>\n";
    return text + "  return %v" + std::to_string(operations) + " : tensor<4xf32>\n}\n";
  };
  const auto argumentsOf = [](int count) {
    std::string text = "func.func @f(";
    for (int i = 0; i < count; ++i)
      text += (i ? ", %a" : "%a") + std::to_string(i) + ": memref<4xf32>";
    return text + ") {\n  linalg.exp ins(%a0 : memref<4xf32>) outs(%a1 : memref<4xf32>)\n  return\n}\n";
  };
  EXPECT_EQ(askFor(api().read, given(chainOf(40))).status, 0);
  const Outcome longest = askFor(api().read, given(chainOf(511))), wide = askFor(api().read, given(argumentsOf(257)));
  EXPECT_EQ(longest.status, static_cast<int>(Status::Unimplemented));
  EXPECT_NE(longest.error.find("has 513 operations; at most 512 are possible"), std::string::npos) << longest.error;
  EXPECT_EQ(askFor(api().read, given(argumentsOf(256))).status, 0);
  EXPECT_EQ(wide.status, static_cast<int>(Status::Unimplemented));
  EXPECT_NE(wide.error.find("has 257 arguments and 0 results; 1 to 256"), std::string::npos) << wide.error;
}

/// Open sizes: which of them are equal, and which are known numbers.
TEST(Mlir, OpenSizesAreRelated) {
  const MlirDesc read = readOf(given(R"(
#id = affine_map<(r, c) -> (r, c)>
func.func @f(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %b: tensor<40xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %w, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#id, affine_map<(r, c) -> (c)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<?x?xf32>, tensor<40xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %s = arith.addf %a, %v : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
)"));
  // The dims of x, then its stride; then the same for w and the result: rows, K, K, columns, which are 40.
  EXPECT_EQ(read.sizes, "0,1,2,1,=40,5,0,=40,8");
  MlirDesc wrong = read;
  for (const char *sizes : {"", "0", "0,1,2,1,=40,5,0,=40,9", "1,1,2,1,=40,5,0,=40,8", "0,1,=2,1,=40,5,0,=40,8",
                            "0,1,2,1,=40,5,0,=40,8,0", "0,1,2,1,=-1,5,0,=40,8", "a"}) {
    PrimitiveDesc desc;
    wrong.sizes = sizes;
    desc.op = wrong;
    EXPECT_FALSE(verify(desc, *Target::parse("avx2"))) << sizes;
  }
}

} // namespace
} // namespace quern
