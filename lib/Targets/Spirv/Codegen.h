//===- Codegen.h - Compilation of the LLVM dialect to SPIR-V --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The `codegen` stage of SPIR-V targets. LLVM's back end aborts if it cannot translate something, so checkForSpirv()
// checks its input first.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_SPIRV_CODEGEN_H
#define QUERN_TARGETS_SPIRV_CODEGEN_H

#include "Desc/Target.h"
#include "Support/Error.h"
#include "Targets/CodeForm.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
}

namespace quern {

/// Used by one thread at a time; reusable for any number of modules.
class SpirvCodegen {
public:
  SpirvCodegen();
  ~SpirvCodegen();

  /// Translates a lowered module to LLVM IR, SPIR-V text or a SPIR-V module. `module` is unchanged. Fails with
  /// `unimplemented` and the feature if the back end or the device does not support it.
  Result<std::string> run(mlir::ModuleOp module, const Target &target, CodeForm form, bool verifyIr);

private:
  std::unique_ptr<llvm::LLVMContext> context;
};

} // namespace quern

#endif // QUERN_TARGETS_SPIRV_CODEGEN_H
