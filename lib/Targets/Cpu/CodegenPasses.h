//===- CodegenPasses.h - The back end's passes for kernels ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LLVM IR to assembly or an object. A pass list of our own: half of the default one serves front ends, other
// processors or mitigations that kernels do not have, and making and visiting all of it takes longer than
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

/// The passes for objects of one target machine, made once: arranging them executes as much as a twentieth of all that
/// compiling a kernel does. Not thread-safe.
class ObjectPasses {
public:
  /// Whether the module has nothing that takes other passes.
  static bool serve(const llvm::Module &module);

  ObjectPasses(llvm::TargetMachine &machine, const Architecture &architecture);
  ~ObjectPasses();

  /// Appends the object of `module`, for which serve() holds, to `bytes`; nothing if this LLVM has not the passes.
  void run(llvm::Module &module, llvm::SmallVectorImpl<char> &bytes);

private:
  struct Passes;
  std::unique_ptr<Passes> passes;
};

/// Appends the code of `module` to `bytes`. False if the back end cannot emit this kind of file. Reports an error of
/// the LLVM context, with nothing appended, if the module has atomics and masked accesses.
bool generateCode(llvm::TargetMachine &machine, const Architecture &architecture, llvm::Module &module,
                  llvm::SmallVectorImpl<char> &bytes, llvm::CodeGenFileType kind, bool verifyIr);

/// Notes the instructions that generateCode() would emit. False for what takes LLVM's own list of passes.
bool listCode(llvm::TargetMachine &machine, const Architecture &architecture, llvm::Module &module, NotedCode &noted);

} // namespace quern

#endif // QUERN_TARGETS_CPU_CODEGENPASSES_H
