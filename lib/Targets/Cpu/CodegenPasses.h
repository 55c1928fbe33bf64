//===- CodegenPasses.h - The back end's passes for kernels ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LLVM IR to assembly or an object. Uses a custom list of passes: half of the default list serves front ends, other
// processors or mitigations that do not apply to kernels, and creating and running all of it takes longer than
// generating a small kernel.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_CODEGENPASSES_H
#define QUERN_TARGETS_CPU_CODEGENPASSES_H

#include "Targets/Cpu/Architecture.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace quern {

struct NotedCode;

/// The passes for objects of one target machine, created once: creating them executes up to a twentieth of the
/// instructions of compiling a kernel. Not thread-safe.
class ObjectPasses {
public:
  /// Returns true if these passes support everything in the module.
  static bool serve(const llvm::Module &module);

  ObjectPasses(llvm::TargetMachine &machine, const Architecture &architecture);
  ~ObjectPasses();

  /// Appends the object of `module`, for which serve() is true, to `bytes`; appends nothing if this LLVM lacks the
  /// passes.
  void run(llvm::Module &module, llvm::SmallVectorImpl<char> &bytes);

private:
  struct Passes;
  std::unique_ptr<Passes> passes;
};

/// Appends the code of `module` to `bytes`. Returns false if the back end cannot emit this kind of file. Reports an
/// error of the LLVM context, with nothing appended, if the module has atomics and masked accesses.
bool generateCode(llvm::TargetMachine &machine, const Architecture &architecture, llvm::Module &module,
                  llvm::SmallVectorImpl<char> &bytes, llvm::CodeGenFileType kind, bool verifyIr);

/// Records the instructions that generateCode() would emit. Returns false for modules that need LLVM's own list of
/// passes.
bool listCode(llvm::TargetMachine &machine, const Architecture &architecture, llvm::Module &module, NotedCode &noted);

} // namespace quern

#endif // QUERN_TARGETS_CPU_CODEGENPASSES_H
