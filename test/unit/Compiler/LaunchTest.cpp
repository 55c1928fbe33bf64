//===- LaunchTest.cpp - Reading launches from modules ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that programs are read as they are written, and one refusal for every kind of mistake.
//
//===----------------------------------------------------------------------===//
#include "IR/Launch.h"
#include "IR/Polynomials.h"
#include "Targets/Cpu/Pipeline.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace quern;

namespace {

/// Returns a module with two kernels of @cell, the second of which uses shared scratch, and one of @copy. `steps` is
/// the program.
std::string moduleWith(const std::string &steps) {
  auto kernel = [](const std::string &name, const std::string &traits) {
    return "func.func @" + name +
           "(%a: memref<8xf32> {quern.arg = \"a\"}, %b: memref<8xf32> {quern.arg = \"b\"}, %begin: index, %end: "
           "index)" +
           " attributes {quern.kernel = #quern.kernel<space = 4, " + traits + ">} { return }\n";
  };
  return "module attributes {quern.program = #quern.program<" + steps + ">} {\n" +
         kernel("cell_kernel0", "problem = \"cell\"") +
         kernel("cell_kernel1", "problem = \"cell\", shared_bytes = 64") + kernel("copy_kernel", "problem = \"copy\"") +
         "}\n";
}

std::string call(const std::string &problem, const std::string &offset = "0", const std::string &more = "") {
  return " call @" + problem + "(\"src\"[" + offset + "], \"h\") " + more;
}
/// Adds a call of @cell, so that every problem is called.
std::string program(const std::string &steps) { return call("cell") + " " + steps; }

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
  void expectRefused(const std::string &steps, const std::string &why) {
    expectNotParsed(steps, why);
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
  }
  /// Like expectRefused(), but a parser adds lines that say where the error is.
  void expectNotParsed(const std::string &steps, const std::string &why) {
    EXPECT_TRUE(failed(read(moduleWith(steps)))) << why;
    EXPECT_NE(errors.find(why), std::string::npos) << "instead of '" << why << "': " << errors;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string errors;
};

StringRef nameOf(const KernelCall &call) { return SymbolTable::getSymbolName(call.kernel); }

} // namespace

TEST_F(LaunchTest, ReadsNumbersSizesAndChecks) {
  auto launch = read(moduleWith("number \"src\" size s0 * 2 check \"an offset\" value s1 low 0 high s0 - 4" +
                                call("copy", "s1 * 4") + call("cell")));
  ASSERT_TRUE(succeeded(launch)) << errors;
  ASSERT_EQ(launch->sizes.size(), 2u);
  EXPECT_EQ(launch->sizes[0].kind, DerivedSize::Kind::Number);
  EXPECT_EQ(launch->sizes[0].argument, "src");
  EXPECT_EQ(launch->sizes[1].kind, DerivedSize::Kind::Computed);
  EXPECT_EQ(launch->sizes[1].value.text(), "2*s0");
  ASSERT_EQ(launch->checks.size(), 1u);
  EXPECT_EQ(launch->checks[0].what, "an offset");
  EXPECT_EQ(launch->checks[0].high.text(), "-4 + s0");
}

TEST_F(LaunchTest, ReadsLoopsAndBuffers) {
  auto launch = read(moduleWith("region \"h\" : s0 * 64 maximum \"src\" limit s0 count 16 stride 1" + call("copy") +
                                "loop s1 - 1 { loop 3 {" + call("cell", "(s1 - 1 - d0) * 4096 + d1 * s0 * 8") +
                                call("copy", "d0 * 4", "independent") + "} }"));
  ASSERT_TRUE(succeeded(launch)) << errors;
  ASSERT_EQ(launch->calls.size(), 4u);
  EXPECT_EQ(nameOf(launch->calls[0]), "copy_kernel");
  EXPECT_EQ(nameOf(launch->calls[1]), "cell_kernel0");
  EXPECT_EQ(nameOf(launch->calls[2]), "cell_kernel1");
  EXPECT_EQ(nameOf(launch->calls[3]), "copy_kernel");
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(launch->calls[i].independentOfPrevious, i == 3);
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
  ASSERT_EQ(launch->sizes.size(), 1u);
  EXPECT_EQ(launch->sizes[0].argument, "src");
  EXPECT_EQ(launch->sizes[0].limit.text(), "s0");
  EXPECT_EQ(launch->sizes[0].count.constant(), 16);
  EXPECT_EQ(launch->sizes[0].stride.constant(), 1);
}

TEST_F(LaunchTest, KernelsThatShareScratchAreOrdered) {
  auto launch = read(moduleWith(call("copy") + call("cell", "0", "independent") + call("copy", "0", "independent")));
  ASSERT_TRUE(succeeded(launch)) << errors;
  ASSERT_EQ(launch->calls.size(), 4u);
  EXPECT_TRUE(launch->calls[1].independentOfPrevious);
  EXPECT_FALSE(launch->calls[2].independentOfPrevious) << "the second kernel of @cell must wait for the first";
  EXPECT_TRUE(launch->calls[3].independentOfPrevious);
}

TEST_F(LaunchTest, WithoutAProgramKernelsRunInOrder) {
  const std::string kernel = "(%x: memref<4xf32> {quern.arg = \"x\"}, %begin: index, %end: index) attributes "
                             "{quern.kernel = #quern.kernel<space = 1>} { return }\n";
  auto launch =
      read("func.func @a" + kernel + "func.func @b" + kernel + "func.func @problem(%x: memref<4xf32>) { return }\n");
  ASSERT_TRUE(succeeded(launch)) << errors;
  ASSERT_EQ(launch->calls.size(), 2u);
  EXPECT_TRUE(launch->loops.empty());
  EXPECT_EQ(nameOf(launch->calls[1]), "b");
  EXPECT_EQ(launch->calls[1].buffers[0].name, "x");
  EXPECT_FALSE(launch->calls[1].independentOfPrevious);
}

TEST_F(LaunchTest, UnscheduledProblemsAreCalledDirectly) {
  auto launch =
      read("module attributes {quern.program = #quern.program<call @a(\"p\") call @a(\"q\"[8]) independent>} {\n"
           "func.func @a(%x: memref<4xf32> {quern.arg = \"x\"}) { return }\n}\n");
  ASSERT_TRUE(succeeded(launch)) << errors;
  ASSERT_EQ(launch->calls.size(), 2u);
  EXPECT_EQ(nameOf(launch->calls[1]), "a");
  EXPECT_EQ(launch->calls[1].buffers[0].name, "q");
  EXPECT_EQ(launch->calls[1].buffers[0].byteOffset.constant(), 8);
  EXPECT_TRUE(launch->calls[1].independentOfPrevious);
}

TEST_F(LaunchTest, MalformedProgramsAreNotParsed) {
  expectNotParsed("> 3", "expected '}'");
  expectNotParsed("7", "expected '>'");
  expectNotParsed(program("fun @copy()"), "expected '>'");
  expectNotParsed(program("call \"copy\"()"), "failed to parse Quern_CallAttr parameter 'problem'");
  expectNotParsed(program("call @copy"), "expected '('");
  expectNotParsed(program("call @copy(\"src\"[0], h)"), "failed to parse Quern_BufferAttr parameter 'name'");
  expectNotParsed(program("call @copy(\"src\"[\"0\"], \"h\")"), "failed to parse Quern_BufferAttr parameter 'offset'");
  expectNotParsed(program(call("copy", "n")), "use of undeclared identifier");
  expectNotParsed(program(call("copy", "0", "often")), "expected '>'");
  expectNotParsed(program("loop 2"), "expected '{'");
  expectNotParsed(program("loop { " + call("copy") + "}"), "failed to parse Quern_LoopAttr parameter 'trips'");
  expectNotParsed(program("region \"h\"" + call("copy")), "expected ':'");
  expectNotParsed(program("check \"x\" value s0 low 0" + call("copy")), "expected 'high'");
  expectNotParsed(program("maximum \"src\" limit 3 stride 4" + call("copy")), "expected 'count'");
}

TEST_F(LaunchTest, InvalidProgramsAreRefused) {
  expectRefused(call("cell"), "it does not call @copy");
  expectRefused(program(call("other")), "the module has no @other");
  expectRefused(program("call @copy(\"src\")"), "@copy takes 2 buffers; a call names 1");
  expectRefused(program(call("copy", "s0 floordiv 2")), "the offset in 'src' of a call of @copy divides");
  expectRefused(program(call("copy", "s0 mod 2 + 1")), "it must be a polynomial");
  expectRefused(program(call("copy", "d0")), "depends on loop 0; 0 are around it");
  expectRefused(program("loop 2 {" + call("copy", "d1") + "}"), "depends on loop 1; 1 are around it");
  expectRefused(program(call("copy", "(s0 + 4611686018427387904) * (s0 + 4611686018427387904)")), "is beyond int64");
  expectRefused(call("copy", "0", "independent"),
                "a call of @copy is marked `independent`, but does not follow a call");
  expectRefused(program("loop 2 {" + call("copy", "0", "independent") + "}"), "but does not follow a call");
  expectRefused(program("loop 2 {}"), "a loop has no call");
  expectRefused(program("loop d0 {" + call("copy") + "}"), "the trips of a loop depends on loop 0");
  expectRefused(program("region \"h\" : d0"), "region 'h' depends on loop 0");
  expectRefused(program("loop 2 { region \"h\" : 8" + call("copy") + "}"),
                "region 'h' is in a loop or exceeds the limit of 256");
  expectRefused(program("loop 2 { maximum \"src\" limit 1 count 1 stride 1" + call("copy") + "}"),
                "the maximum of 'src' is in a loop");
  expectRefused(program("maximum \"src\" limit 1 count s0 mod 2 stride 1"), "the maximum of 'src' divides");
  std::string nest = call("copy"), maxima;
  for (uint32_t depth = 0; depth <= maxLoopDepth; ++depth)
    nest = "loop 2 {" + nest + "}";
  expectRefused(program(nest), "a loop is nested in 8 others; the limit is 7");
  for (uint32_t i = 0; i <= maxDerivedSizes; ++i)
    maxima += " maximum \"src\" limit 1 count 1 stride 1";
  expectRefused(program(maxima), "exceeds the limit of 128");
}

TEST_F(LaunchTest, KernelsMustNameTheirProblem) {
  auto kernels = [](const std::string &text) {
    return "module attributes {quern.program = #quern.program<>} {\n" + text + "}\n";
  };
  const std::string kernel =
      "(%x: memref<4xf32> {quern.arg = \"x\"}, %begin: index, %end: index) attributes {quern.kernel = #quern.kernel<";
  EXPECT_TRUE(failed(read(kernels("func.func @a" + kernel + "space = 1>} { return }\n"))));
  EXPECT_NE(errors.find("@a does not name its problem"), std::string::npos) << errors;
  EXPECT_TRUE(failed(read(
      kernels("func.func @a" + kernel +
              "problem = \"p\", space = 1>} { return }\n"
              "func.func @b() attributes {quern.kernel = #quern.kernel<problem = \"p\", space = 1>} { return }\n"))));
  EXPECT_NE(errors.find("the kernels of @p take 1 and 0 arguments"), std::string::npos) << errors;
}

TEST_F(LaunchTest, PolynomialsHaveValues) {
  std::string whyNot;
  AffineExpr d0 = getAffineDimExpr(0, &context), s0 = getAffineSymbolExpr(0, &context),
             s1 = getAffineSymbolExpr(1, &context);
  auto polynomial = polynomialOf((s0 - 1 - d0) * s1 * 3 + s1 * s1 - s1 * s1, 2, whyNot);
  ASSERT_TRUE(succeeded(polynomial)) << whyNot;
  EXPECT_EQ(polynomial->terms.size(), 3u) << "terms that cancel must be removed: " << polynomial->text();
  EXPECT_EQ(valueOf(*polynomial, {2, 0}, {10, 5}), 105);
  EXPECT_EQ(valueOf(*polynomial, {2, 0}, {10}), std::nullopt);
  EXPECT_EQ(valueOf(*polynomial, {2, 0}, {INT64_MAX, 5}), std::nullopt);
}
