//===- FatalErrorTest.cpp - LLVM's fatal errors as results ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that LLVM's fatal errors become results. Each test runs in a separate process, because LLVM's unfinished
// objects are leaked.
//
//===----------------------------------------------------------------------===//
#include "Compiler/Stages.h"
#include "Targets/Cpu/Codegen.h"
#include "Targets/FatalErrors.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/ErrorHandling.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <unistd.h>

namespace quern {
namespace {

/// Ends the process of a test; its exit status is 0 if `wrong` is empty.
void endWith(const std::string &wrong) {
  std::fputs(wrong.c_str(), stderr);
  _exit(wrong.empty() ? 0 : 1);
}

std::string messageOf(const Result<void> &result) { return result ? "nothing" : result.error().message; }

void nest() {
  installFatalErrorHandler();
  installFatalErrorHandler();
  std::string inner;
  Result<void> outer = returnFatalErrors([&] {
    inner = messageOf(returnFatalErrors([] { llvm::report_fatal_error("one\nand more"); }));
    llvm::report_fatal_error("two");
  });
  if (inner != "LLVM: one" || messageOf(outer) != "LLVM: two" || !returnFatalErrors([] {}))
    endWith(inner + ", " + messageOf(outer));
  endWith("");
}

// An AVX-512 instruction for a target without AVX-512: instruction selection fails with a fatal error.
constexpr const char *unselectable = R"(
llvm.func @unselectable(%a: vector<16xf32>, %i: vector<16xi32>) -> vector<16xf32> {
  %0 = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%a, %i) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
  llvm.return %0 : vector<16xf32>
})";
constexpr const char *plain = R"(
llvm.func @plain(%a: vector<4xf32>) -> vector<4xf32> {
  %0 = llvm.fadd %a, %a : vector<4xf32>
  llvm.return %0 : vector<4xf32>
})";

void compileForAnother() {
  installFatalErrorHandler();
  ContextLease lease;
  CpuCodegen codegen;
  const Target target = *Target::parse("sse42");
  auto compiled = [&](const char *text) -> Result<std::string> {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &lease->context);
    return codegen.run(*module, target, CodeForm::Assembly, /*verifyIr=*/false);
  };
  Result<std::string> refused = compiled(unselectable);
  if (refused || refused.error().status != Status::Internal || !refused.error().message.starts_with("codegen: LLVM: "))
    endWith(refused ? *refused : refused.error().message);
  Result<std::string> after = compiled(plain);
  if (!after || after->find("addps") == std::string::npos)
    endWith(after ? *after : after.error().message);
  endWith("");
}

void runOutOfMemory() {
  installFatalErrorHandler();
  const Result<void> ofLlvm = returnFatalErrors([] { llvm::report_bad_alloc_error("Allocation failed"); });
  const Result<void> ofNew = returnFatalErrors([] {
    volatile size_t tooMuch = SIZE_MAX / 4;
    void *volatile kept = ::operator new(tooMuch);
    ::operator delete(kept);
  });
  for (const Result<void> *result : {&ofLlvm, &ofNew})
    if (*result || result->error().status != Status::OutOfMemory)
      endWith("not out of memory: " + messageOf(*result));
  endWith(messageOf(returnFatalErrors([] { llvm::report_fatal_error("one"); })) == "LLVM: one" ? "" : "no landing");
}

TEST(FatalErrors, AreOutOfMemoryIfAnAllocationFails) {
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "the sanitizer terminates a process that requests this much memory";
#endif
  EXPECT_EXIT(runOutOfMemory(), testing::ExitedWithCode(0), "^$");
}

TEST(FatalErrors, ReturnToTheInnermostScope) { EXPECT_EXIT(nest(), testing::ExitedWithCode(0), "^$"); }

TEST(FatalErrors, FailOneKernelAndTheNextCompiles) {
  EXPECT_EXIT(compileForAnother(), testing::ExitedWithCode(0), "^$");
}

TEST(FatalErrors, EndTheProcessIfNoScopeCatchesThem) {
  EXPECT_DEATH((installFatalErrorHandler(), llvm::report_fatal_error("nobody waits")), "nobody waits");
}

} // namespace
} // namespace quern
