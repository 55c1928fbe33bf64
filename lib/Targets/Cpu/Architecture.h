//===- Architecture.h - What an architecture of CPUs contributes ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All CPUs share recipes, lowering and code generation. What differs is in one value for each architecture, which its
// folder defines: machine numbers for the recipes, which instructions vectors have, names for LLVM. Nothing else in
// Targets/Cpu tells architectures apart.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_ARCHITECTURE_H
#define QUERN_TARGETS_CPU_ARCHITECTURE_H

#include "Desc/Target.h"
#include "Schedule/Contraction/Contraction.h"
#include "Schedule/Map/Map.h"
#include "Schedule/Rows/Rows.h"
#include "Targets/Cpu/KeepMasks.h"
#include "Transforms/Transforms.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"

#include <string>
#include <vector>

namespace quern {

/// The vector registers of a level, as strategies have them.
struct VectorRegisters {
  int64_t bytes, count;
  int64_t narrowestMask; ///< bits of the narrowest element that masked accesses take natively; 0: there are none
};

/// What stands for a level alone, in LLVM's names; a CPU that is tuned for no model in particular.
struct LlvmCpu {
  std::string name, features;
};

struct Architecture {
  const char *triple;
  const char *assemblyComment; ///< what a comment begins with
  VectorRegisters (*registersOf)(const Target &target);
  /// What else the level says of a contraction.
  void (*refine)(ContractionStrategy &strategy, const Target &target);
  /// And of lines and rows; null: nothing.
  void (*refineMap)(MapStrategy &strategy) = nullptr;
  void (*refineRows)(RowsStrategy &strategy) = nullptr;
  /// The expansions that pay on this target.
  MathOptions (*mathOptionsOf)(const Target &target);
  /// An intrinsic that orders stores past the caches with the ones after them; empty where they are ordered.
  llvm::StringLiteral storeFence;
  void (*initializeLlvm)(); ///< called once in a process
  LlvmCpu (*llvmCpuOf)(const Target &target);
  /// What selection does better when it finds it done.
  void (*prepare)(llvm::Function &function, const Target &target);
  IsMasked isMasked;
  /// Processors of the level of which LLVM has a model, by its names; null where instructions are not listed.
  std::vector<const char *> (*processorsOf)(const Target &target) = nullptr;
  /// Passes by the names of LLVM's registry: behind those for virtual registers, in front of their allocation, behind
  /// those for physical ones, and when blocks are where they stay.
  llvm::ArrayRef<llvm::StringLiteral> virtualPasses, allocationPasses, physicalPasses, placedPasses;
};

/// The architecture of a CPU.
const Architecture &architectureOf(CpuArch arch);
inline const Architecture &architectureOf(const Target &target) { return architectureOf(archOf(target.isa)); }

} // namespace quern

#endif // QUERN_TARGETS_CPU_ARCHITECTURE_H
