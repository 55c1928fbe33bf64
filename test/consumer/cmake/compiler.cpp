//===- compiler.cpp - An MLIR program that uses an installed Quern --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles a problem stage by stage in its own MLIR context, loads the kernel into this process, and calls it.
//
//===----------------------------------------------------------------------===//
#include "quern-compiler/Compiler.h"
#include "quern/kernel_abi.h"

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr const char *line = "softmax fwd_i alg=accurate src=f32:3x50:ab dst=f32:3x50:ab axis=1";

bool isRight(void *entry) {
  std::vector<float> x(150, 1.0f), y(150);
  std::vector<char> scratch(1 << 16);
  void *buffers[] = {x.data(), y.data()};
  quern_kernel_args_t args = {buffers, scratch.data()};
  auto kernel = reinterpret_cast<quern_kernel_fn>(entry);
  kernel(&args, 0, 3);
  for (float value : y)
    if (std::abs(value - 0.02f) > 1e-6f)
      return false;
  return true;
}

} // namespace

int main() {
  using namespace quern::compiler;
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = emit(context, line, "native");
  if (!module || failed(schedule(*module, "native")) || failed(lower(*module, "native")))
    return 1;
  mlir::FailureOr<LoadedKernel> kernel = load(*module, "native", {"softmax_kernel"});
  if (failed(kernel))
    return 1;
  bool right = isRight(kernel->entry());
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
