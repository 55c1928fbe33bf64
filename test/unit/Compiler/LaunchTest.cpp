//===- LaunchTest.cpp - Reading launches from modules ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Both forms become one structure; every way to write a program wrong has its line.
//
//===----------------------------------------------------------------------===//
#include "Compiler/Launch.h"
#include "Compiler/Polynomials.h"
#include "Targets/Cpu/Pipeline.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace quern;

namespace {

/// Two kernels of @cell, of which the second shares scratch, and one of @copy; `attributes` are the module's.
std::string moduleWith(const std::string &attributes) {
  auto kernel = [](const std::string &name, const std::string &problem, const std::string &more) {
    return "func.func @" + name +
           "(%a: memref<8xf32> {quern.arg = \"a\"}, %b: memref<8xf32> {quern.arg = \"b\"}, %begin: index, %end: index)" +
           " attributes {quern.space = 4 : index, quern.problem = \"" + problem + "\"" + more + "} { return }\n";
  };
  return "module attributes {" + attributes + "} {\n" + kernel("cell_kernel0", "cell", "") +
         kernel("cell_kernel1", "cell", ", quern.shared_bytes = 64 : index") + kernel("copy_kernel", "copy", "") + "}\n";
}

const std::string zero = "affine_map<() -> (0)>";
std::string call(const std::string &problem, const std::string &offset = zero, const std::string &more = "") {
  return "{call = @" + problem + ", buffers = [[\"src\", " + offset + "], [\"h\", " + zero + "]]" + more + "}";
}
/// With @cell called, so that nothing else is missing.
std::string program(const std::string &items) { return "quern.program = [" + call("cell") + ", " + items + "]"; }

class LaunchTest : public testing::Test {
protected:
  LaunchTest() : context(registryOfStages(), MLIRContext::Threading::DISABLED) { context.loadAllAvailableDialects(); }
  static DialectRegistry registryOfStages() {
    DialectRegistry registry;
    registerAllStageDialects(registry);
    return registry;
  }
  FailureOr<Launch> read(const std::string &text) {
    errors.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? launchOf(*module) : FailureOr<Launch>(failure());
  }
  void expectRefused(const std::string &attributes, const std::string &why) {
    EXPECT_TRUE(failed(read(moduleWith(attributes)))) << why;
    EXPECT_NE(errors.find(why), std::string::npos) << "instead of '" << why << "': " << errors;
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string errors;
};

StringRef nameOf(const KernelCall &call) { return SymbolTable::getSymbolName(call.kernel); }

} // namespace

TEST_F(LaunchTest, ReadsLoopsAndBuffers) {
  auto launch =
      read(moduleWith("quern.regions = {h = affine_map<()[s0] -> (s0 * 64)>}, "
                      "quern.maxima = [[\"src\", affine_map<()[s0] -> (s0)>, affine_map<() -> (16)>, affine_map<() -> (1)>]], "
                      "quern.program = [" +
                      call("copy") + ", {loop = affine_map<()[s0, s1] -> (s1 - 1)>, body = [{loop = affine_map<() -> (3)>, body = [" +
                      call("cell", "affine_map<(d0, d1)[s0, s1] -> ((s1 - 1 - d0) * 4096 + d1 * s0 * 8)>") + ", " +
                      call("copy", "affine_map<(d0) -> (d0 * 4)>", ", beside") + "]}]}]"));
  ASSERT_TRUE(succeeded(launch)) << errors;
  ASSERT_EQ(launch->calls.size(), 4u);
  EXPECT_EQ(nameOf(launch->calls[0]), "copy_kernel");
  EXPECT_EQ(nameOf(launch->calls[1]), "cell_kernel0");
  EXPECT_EQ(nameOf(launch->calls[2]), "cell_kernel1");
  EXPECT_EQ(nameOf(launch->calls[3]), "copy_kernel");
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(launch->calls[i].besidePrevious, i == 3);
  ASSERT_EQ(launch->calls[2].buffers.size(), 2u);
  EXPECT_EQ(launch->calls[2].buffers[0].name, "src");
  EXPECT_EQ(launch->calls[2].buffers[0].byteOffset.text(), "-4096 - 4096*d0 + 8*d1*s0 + 4096*s1");
  EXPECT_EQ(launch->calls[2].buffers[1].byteOffset, Polynomial(0));
  ASSERT_EQ(launch->loops.size(), 2u);
  EXPECT_EQ(launch->loops[0].trips.text(), "-1 + s1");
  EXPECT_EQ(launch->loops[1].trips.constant(), 3);
  for (const LaunchLoop &loop : launch->loops) {
    EXPECT_EQ(loop.first, 1u);
    EXPECT_EQ(loop.end, 4u);
  }
  ASSERT_EQ(launch->regions.size(), 1u);
  EXPECT_EQ(launch->regions[0].name, "h");
  EXPECT_EQ(launch->regions[0].bytes.text(), "64*s0");
  ASSERT_EQ(launch->maxima.size(), 1u);
  EXPECT_EQ(launch->maxima[0].argument, "src");
  EXPECT_EQ(launch->maxima[0].limit.text(), "s0");
  EXPECT_EQ(launch->maxima[0].count.constant(), 16);
  EXPECT_EQ(launch->maxima[0].stride.constant(), 1);
}

TEST_F(LaunchTest, KernelsThatShareScratchRunAfterWhatIsBeforeThem) {
  auto launch = read(
      moduleWith("quern.program = [" + call("copy") + ", " + call("cell", zero, ", beside") + ", " + call("copy", zero, ", beside") + "]"));
  ASSERT_TRUE(succeeded(launch)) << errors;
  ASSERT_EQ(launch->calls.size(), 4u);
  EXPECT_TRUE(launch->calls[1].besidePrevious);
  EXPECT_FALSE(launch->calls[2].besidePrevious) << "the second kernel of @cell";
  EXPECT_TRUE(launch->calls[3].besidePrevious);
}

TEST_F(LaunchTest, WithoutAProgramKernelsRunWhereTheyStand) {
  auto launch = read("func.func @a(%x: memref<4xf32> {quern.arg = \"x\"}, %begin: index, %end: index) attributes {quern.space = 1 : index, "
                     "quern.calls = [[\"p\", 0], [\"q\", 8]]} { return }\n"
                     "func.func @b(%x: memref<4xf32> {quern.arg = \"x\"}, %begin: index, %end: index) attributes {quern.space = 1 : index} "
                     "{ return }\n");
  ASSERT_TRUE(succeeded(launch)) << errors;
  ASSERT_EQ(launch->calls.size(), 3u);
  EXPECT_TRUE(launch->loops.empty());
  EXPECT_EQ(launch->calls[1].buffers[0].name, "q");
  EXPECT_EQ(launch->calls[1].buffers[0].byteOffset.constant(), 8);
  EXPECT_TRUE(launch->calls[1].besidePrevious);
  EXPECT_EQ(nameOf(launch->calls[2]), "b");
  EXPECT_EQ(launch->calls[2].buffers[0].name, "x");
  EXPECT_FALSE(launch->calls[2].besidePrevious);
}

TEST_F(LaunchTest, MalformedProgramsAreRefused) {
  expectRefused("quern.program = 3", "it must be a list of calls and loops");
  expectRefused("quern.program = [" + call("cell") + "]", "it does not call @copy");
  expectRefused(program("7"), "it must list calls and loops");
  expectRefused(program("{fun = @copy}"), "it must list calls and loops");
  expectRefused(program(call("other")), "the module has no @other");
  expectRefused(program("{call = \"copy\", buffers = []}"), "a call must be {call = @problem, buffers = [[name, offset], …]}");
  expectRefused(program("{call = @copy}"), "a call must be {call = @problem");
  expectRefused(program(call("copy", zero, ", often")), "a call must be {call = @problem");
  expectRefused(program("{call = @copy, buffers = [[\"src\", " + zero + "]]}"), "@copy takes 2 buffers; a call names 1");
  expectRefused(program("{call = @copy, buffers = [[\"src\", " + zero + "], [\"h\"]]}"),
                "buffer 1 of a call of @copy must be [name, offset]");
  expectRefused(program(call("copy", "8")), "the offset in 'src' of a call of @copy is no affine map");
  expectRefused(program(call("copy", "affine_map<()[s0] -> (s0 floordiv 2)>")), "the offset in 'src' of a call of @copy divides");
  expectRefused(program(call("copy", "affine_map<()[s0] -> (s0 mod 2 + 1)>")), "it must be a polynomial");
  expectRefused(program(call("copy", "affine_map<() -> (0, 1)>")), "has 2 results; it must have one");
  expectRefused(program(call("copy", "affine_map<(d0) -> (d0)>")), "depends on loop 0; 0 are around it");
  expectRefused(program("{loop = affine_map<() -> (2)>, body = [" + call("copy", "affine_map<(a, b) -> (b)>") + "]}"),
                "depends on loop 1; 1 are around it");
  expectRefused(program(call("copy", "affine_map<()[s0] -> ((s0 + 4611686018427387904) * (s0 + 4611686018427387904))>")),
                "is beyond int64");
  expectRefused("quern.program = [" + call("copy", zero, ", beside") + "]", "a call of @copy is beside the one before, and there is none");
  expectRefused(program("{loop = affine_map<() -> (2)>, body = [" + call("copy", zero, ", beside") + "]}"), "and there is none");
  expectRefused(program("{loop = affine_map<() -> (2)>, body = []}"), "a loop must be {loop = trips, body = [at least one call or loop]}");
  expectRefused(program("{loop = affine_map<() -> (2)>}"), "a loop must be");
  expectRefused(program("{loop = 2, body = [" + call("copy") + "]}"), "the trips of a loop is no affine map");
  expectRefused(program("{loop = affine_map<(d0) -> (d0)>, body = [" + call("copy") + "]}"), "the trips of a loop depends on loop 0");
  expectRefused("quern.regions = {h = 64}, " + program(call("copy")), "region 'h' is no affine map");
  expectRefused("quern.maxima = [[\"src\", " + zero + "]], " + program(call("copy")),
                "must list [an argument, the limit, the count, the stride]");
  std::string nest = call("copy");
  for (uint32_t depth = 0; depth <= maxLoopDepth; ++depth)
    nest = "{loop = affine_map<() -> (2)>, body = [" + nest + "]}";
  expectRefused(program(nest), "a loop lies within 8 others; the limit is 7");
}

TEST_F(LaunchTest, KernelsOfAProgramSayWhatTheyAreOf) {
  EXPECT_TRUE(
      failed(read("module attributes {quern.program = []} {\n"
                  "func.func @a(%x: memref<4xf32> {quern.arg = \"x\"}, %begin: index, %end: index) attributes {quern.space = 1 : index}"
                  " { return }\n}\n")));
  EXPECT_NE(errors.find("@a does not say in quern.problem which problem it is of"), std::string::npos) << errors;
  EXPECT_TRUE(failed(read("module attributes {quern.program = []} {\n"
                          "func.func @a_kernel(%x: memref<4xf32> {quern.arg = \"x\"}, %begin: index, %end: index)"
                          " attributes {quern.space = 1 : index, quern.problem = \"a\", quern.beside} { return }\n}\n")));
  EXPECT_NE(errors.find("@a says itself when it is called"), std::string::npos) << errors;
}

TEST_F(LaunchTest, PolynomialsHaveValues) {
  std::string whyNot;
  AffineExpr d0 = getAffineDimExpr(0, &context), s0 = getAffineSymbolExpr(0, &context), s1 = getAffineSymbolExpr(1, &context);
  auto polynomial = polynomialOf(AffineMap::get(2, 2, (s0 - 1 - d0) * s1 * 3 + s1 * s1 - s1 * s1), 2, whyNot);
  ASSERT_TRUE(succeeded(polynomial)) << whyNot;
  EXPECT_EQ(polynomial->terms.size(), 3u) << "what cancels is gone: " << polynomial->text();
  EXPECT_EQ(valueOf(*polynomial, {2, 0}, {10, 5}), 105);
  EXPECT_EQ(valueOf(*polynomial, {2, 0}, {10}), std::nullopt);
  EXPECT_EQ(valueOf(*polynomial, {2, 0}, {INT64_MAX, 5}), std::nullopt);
}
