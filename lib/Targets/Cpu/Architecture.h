//===- Architecture.h - Interface of a CPU architecture -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All CPUs share recipes, lowering and code generation. Each architecture defines one value with its differences in its
// own folder: machine parameters for the recipes, available vector instructions, LLVM names. Other code in Targets/Cpu
// depends on the architecture only to choose the expansion of exp (Pipeline.cpp) and to recognize unaligned accesses
// (Listing.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_ARCHITECTURE_H
#define QUERN_TARGETS_CPU_ARCHITECTURE_H

#include "Desc/Target.h"
#include "Schedule/Contraction/Contraction.h"
#include "Schedule/Map/Map.h"
#include "Schedule/Rows/Rows.h"
#include "Targets/Cpu/KeepMasks.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"

#include <string>
#include <vector>

namespace quern {

/// The vector registers of a level, for strategies.
struct VectorRegisters {
  int64_t bytes, count;
  int64_t narrowestMask; ///< bits of the narrowest element that masked accesses support natively; 0: none
};

/// LLVM's names for a level: those of a CPU without tuning for a specific model.
struct LlvmCpu {
  std::string name, features;
};

struct Architecture {
  const char *triple;
  const char *assemblyComment; ///< prefix of comments
  VectorRegisters (*registersOf)(const Target &target);
  /// Sets the other fields of a contraction's strategy that depend on the level.
  void (*refine)(ContractionStrategy &strategy, const Target &target);
  /// Like `refine`, for maps and rows; null: nothing to set.
  void (*refineMap)(MapStrategy &strategy) = nullptr;
  void (*refineRows)(RowsStrategy &strategy) = nullptr;
  /// An intrinsic that orders non-temporal stores before later stores; empty if they are ordered anyway.
  llvm::StringLiteral storeFence;
  void (*initializeLlvm)(); ///< called once per process
  LlvmCpu (*llvmCpuOf)(const Target &target);
  /// Rewrites IR that instruction selection handles poorly.
  void (*prepare)(llvm::Function &function, const Target &target);
  IsMasked isMasked;
  /// Returns the processors of the level that LLVM has a model of, by LLVM's names; null if instructions are not
  /// listed.
  std::vector<const char *> (*processorsOf)(const Target &target) = nullptr;
  /// Additional passes, by their names in LLVM's registry, that run after those for virtual registers, before register
  /// allocation, after it, and after block placement.
  llvm::ArrayRef<llvm::StringLiteral> virtualPasses, allocationPasses, physicalPasses, placedPasses;
};

/// Returns the architecture of a CPU.
const Architecture &architectureOf(CpuArch arch);
inline const Architecture &architectureOf(const Target &target) { return architectureOf(archOf(target.isa)); }

} // namespace quern

#endif // QUERN_TARGETS_CPU_ARCHITECTURE_H
