//===- Codegen.h - A device's LLVM dialect to SPIR-V ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The `codegen` stage of SPIR-V targets. LLVM's back end ends the process where it cannot translate something, so what
// it gets is checked before: Check.h has the list of what it may get.
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

/// Belongs to one thread at a time; reusable for any number of modules.
class SpirvCodegen {
public:
  SpirvCodegen();
  ~SpirvCodegen();

  /// A lowered module as LLVM IR, as SPIR-V in text or as a SPIR-V module. `module` is unchanged. `unimplemented` names
  /// what the back end or the device does not take.
  Result<std::string> run(mlir::ModuleOp module, const Target &target, CodeForm form, bool verifyIr);

private:
  std::unique_ptr<llvm::LLVMContext> context;
};

} // namespace quern

#endif // QUERN_TARGETS_SPIRV_CODEGEN_H
