//===- TranslationTest.cpp - Direct translation compared with MLIR's ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/DirectTranslation.h"
#include "Targets/KernelLowering.h"
#include "Targets/LlvmTranslation.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace quern;

namespace {

class Translation : public testing::Test {
protected:
  Translation() {
    DialectRegistry registry;
    registerAllStageDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> kernel(const std::string &body) {
    return parseSourceString<ModuleOp>("llvm.func @kernel(%args: !llvm.ptr, %begin: i64, %end: i64) {\n" + body + "}",
                                       &context);
  }

  /// Expects the same text from both translations.
  void expectAlike(const std::string &body) {
    OwningOpRef<ModuleOp> module = kernel(body);
    ASSERT_TRUE(module);
    llvm::LLVMContext ours, theirs;
    std::unique_ptr<llvm::Module> made = translateKernels(*module, ours);
    ASSERT_TRUE(made);
    std::unique_ptr<llvm::Module> expected = translateModuleToLLVMIR(*module, theirs, "quern");
    ASSERT_TRUE(expected);
    EXPECT_EQ(textOf(*made), textOf(*expected));
  }

  void expectUnknown(const std::string &text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    llvm::LLVMContext llvmContext;
    EXPECT_FALSE(translateKernels(*module, llvmContext));
  }

  MLIRContext context;
};

TEST_F(Translation, TranslatesNumbers) {
  expectAlike(R"(
    %0 = llvm.add %begin, %end overflow<nsw> : i64
    %1 = llvm.sub %0, %end overflow<nsw, nuw> : i64
    %2 = llvm.mul %1, %end overflow<nuw> : i64
    %3 = llvm.udiv exact %2, %end : i64
    %4 = llvm.sdiv %3, %end : i64
    %5 = llvm.urem %4, %end : i64
    %6 = llvm.and %5, %end : i64
    %7 = llvm.or disjoint %6, %end : i64
    %8 = llvm.xor %7, %end : i64
    %9 = llvm.shl %8, %end overflow<nsw> : i64
    %10 = llvm.lshr exact %9, %end : i64
    %11 = llvm.ashr %10, %end : i64
    %12 = llvm.trunc %11 overflow<nsw> : i64 to i32
    %13 = llvm.sext %12 : i32 to i64
    %14 = llvm.zext nneg %12 : i32 to i64
    %15 = llvm.intr.smax(%13, %14) : (i64, i64) -> i64
    %16 = llvm.intr.smin(%15, %14) : (i64, i64) -> i64
    %17 = llvm.intr.umax(%16, %14) : (i64, i64) -> i64
    %18 = llvm.intr.umin(%17, %14) : (i64, i64) -> i64
    %19 = llvm.sitofp %18 : i64 to f32
    %20 = llvm.uitofp nneg %18 : i64 to f32
    %21 = llvm.fptosi %19 : f32 to i32
    %22 = llvm.ptrtoint %args : !llvm.ptr to i64
    %23 = llvm.inttoptr %22 : i64 to !llvm.ptr
    llvm.store %21, %23 : i32, !llvm.ptr
    llvm.store %20, %23 {nontemporal, alignment = 2 : i64} : f32, !llvm.ptr
    llvm.return
)");
}

TEST_F(Translation, TranslatesPredicates) {
  std::string body;
  int number = 0;
  for (const char *predicate : {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
    body += "%i" + std::to_string(number++) + " = llvm.icmp \"" + predicate + "\" %begin, %end : i64\n";
  body += "%x = llvm.sitofp %begin : i64 to f32\n";
  for (const char *predicate : {"_false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
                                "ule", "une", "uno", "_true"})
    body += "%f" + std::to_string(number++) + " = llvm.fcmp \"" + predicate +
            "\" %x, %x {fastmathFlags = #llvm.fastmath<nnan>} : f32\n";
  expectAlike(body + "llvm.return\n");
}

TEST_F(Translation, TranslatesVectors) {
  expectAlike(R"(
    %two = llvm.mlir.constant(2 : i64) : i64
    %ones = llvm.mlir.constant(dense<1.5> : vector<8xf32>) : vector<8xf32>
    %some = llvm.mlir.constant(dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, -0.0]> : vector<8xf32>) : vector<8xf32>
    %nans = llvm.mlir.constant(dense<0x7FC00001> : vector<8xf32>) : vector<8xf32>
    %bytes = llvm.mlir.constant(dense<[0, 1, 2, 3, 4, 5, 6, -7]> : vector<8xi8>) : vector<8xi8>
    %mask = llvm.mlir.constant(dense<[true, false, true, true, false, false, true, false]> : vector<8xi1>)
      : vector<8xi1>
    %half = llvm.mlir.constant(1.5 : bf16) : bf16
    %none = llvm.mlir.poison : vector<8xf32>
    %x = llvm.load %args {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
    %0 = llvm.fadd %x, %ones {fastmathFlags = #llvm.fastmath<reassoc>} : vector<8xf32>
    %1 = llvm.fsub %0, %some {fastmathFlags = #llvm.fastmath<contract, nsz>} : vector<8xf32>
    %2 = llvm.fmul %1, %nans {fastmathFlags = #llvm.fastmath<fast>} : vector<8xf32>
    %3 = llvm.fdiv %2, %ones {fastmathFlags = #llvm.fastmath<arcp, afn, ninf>} : vector<8xf32>
    %4 = llvm.fneg %3 : vector<8xf32>
    %5 = llvm.intr.fma(%4, %x, %ones) {fastmathFlags = #llvm.fastmath<nnan>}
      : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
    %6 = llvm.intr.fabs(%5) : (vector<8xf32>) -> vector<8xf32>
    %7 = llvm.intr.copysign(%6, %x) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
    %8 = llvm.shufflevector %7, %x [0, 8, 1, 9, 2, 10, -1, 11] : vector<8xf32>
    %9 = llvm.extractelement %8[%two : i64] : vector<8xf32>
    %10 = llvm.insertelement %9, %none[%two : i64] : vector<8xf32>
    %11 = llvm.select %mask, %10, %8 : vector<8xi1>, vector<8xf32>
    %12 = llvm.bitcast %11 : vector<8xf32> to vector<8xi32>
    %13 = llvm.fptrunc %11 : vector<8xf32> to vector<8xbf16>
    %14 = llvm.fpext %13 : vector<8xbf16> to vector<8xf32>
    %15 = llvm.intr.masked.load %args, %mask, %14 {alignment = 4 : i32}
      : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
    llvm.intr.masked.store %15, %args, %mask {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
    %16 = "llvm.intr.vector.reduce.fadd"(%9, %15) <{fastmathFlags = #llvm.fastmath<reassoc>}>
      : (f32, vector<8xf32>) -> f32
    %17 = llvm.intr.vector.reduce.fmax(%15) : (vector<8xf32>) -> f32
    %18 = "llvm.intr.vector.reduce.or"(%12) : (vector<8xi32>) -> i32
    %19 = llvm.call_intrinsic "llvm.x86.avx.max.ps.256"(%15, %14) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
    %20 = llvm.call_intrinsic "llvm.roundeven"(%19) : (vector<8xf32>) -> vector<8xf32>
    "llvm.intr.prefetch"(%args) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
    llvm.call_intrinsic "llvm.x86.sse.sfence"() : () -> ()
    llvm.store %20, %args : vector<8xf32>, !llvm.ptr
    llvm.store %half, %args : bf16, !llvm.ptr
    llvm.store %bytes, %args : vector<8xi8>, !llvm.ptr
    llvm.store %18, %args : i32, !llvm.ptr
    llvm.store %17, %args : f32, !llvm.ptr
    llvm.store %16, %args : f32, !llvm.ptr
    llvm.return
)");
}

TEST_F(Translation, TranslatesLoopsAndAddresses) {
  expectAlike(R"(
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %one = llvm.mlir.constant(1 : i64) : i64
    %0 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
    %any = llvm.icmp "slt" %begin, %end : i64
    llvm.cond_br %any, ^loop(%begin, %zero : i64, f32), ^exit(%zero : f32)
  ^exit(%sum: f32):
    %2 = llvm.getelementptr inbounds|nuw %1[%begin] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %sum, %2 : f32, !llvm.ptr
    llvm.return
  ^loop(%i: i64, %before: f32):
    %3 = llvm.getelementptr %1[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %3 : !llvm.ptr -> f32
    %after = llvm.fadd %before, %x : f32
    llvm.br ^latch
  ^latch:
    %next = llvm.add %i, %one : i64
    %again = llvm.icmp "slt" %next, %end : i64
    llvm.cond_br %again, ^loop(%next, %after : i64, f32), ^exit(%after : f32)
)");
}

/// Unknown operations are left to MLIR, and no part of them is dropped.
TEST_F(Translation, LeavesOtherOperations) {
  expectUnknown("llvm.func @declared()");
  expectUnknown("llvm.func internal @own() { llvm.return }");
  expectUnknown("llvm.func spir_kernelcc @device() { llvm.return }");
  expectUnknown("llvm.func @told() attributes {passthrough = [\"cold\"]} { llvm.return }");
  expectUnknown("llvm.func @aligned(%x: !llvm.ptr {llvm.align = 64 : i64}) { llvm.return }");
  expectUnknown("llvm.mlir.global internal @data(0 : i32) : i32");
  expectUnknown("llvm.func @f(%x: !llvm.ptr) { %0 = llvm.load volatile %x : !llvm.ptr -> i32 llvm.return }");
  expectUnknown("llvm.func @f(%x: !llvm.ptr) { %0 = llvm.load %x invariant : !llvm.ptr -> i32 llvm.return }");
  expectUnknown("llvm.func @f(%x: i1) { llvm.cond_br %x weights([1, 2]), ^a, ^b\n ^a: llvm.return\n ^b: llvm.return }");
  expectUnknown("llvm.func @f(%x: i1) { llvm.cond_br %x, ^a, ^a\n ^a: llvm.return }");
  expectUnknown("llvm.func @f(%x: i64) -> i64 { llvm.return %x : i64 }");
  expectUnknown("llvm.func @f(%x: i64) { %0 = llvm.srem %x, %x : i64 llvm.return }");
}

} // namespace
