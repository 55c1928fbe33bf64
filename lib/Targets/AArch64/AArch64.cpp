//===- AArch64.cpp - The AArch64 architecture -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// NEON has no masked accesses, so recipes finish lines element by element or with a vector that overlaps the one
// before. SVE kernels use vectors of exactly one register, which LLVM keeps in SVE registers if these are longer than
// NEON's; their masks are predicates.
//
//===----------------------------------------------------------------------===//
#include "Targets/AArch64/AArch64.h"

#include "Targets/AArch64/IndexedProducts.h"
#include "Targets/AArch64/ScalableVectors.h"
#include "Targets/AArch64/Selection.h"
#include "Targets/AArch64/WideRegisters.h"
#include "Transforms/Transforms.h"

#include "llvm-c/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Attributes.h"

namespace quern {
namespace {

constexpr int32_t granuleBits = 128; ///< SVE lengths are multiples of it

VectorRegisters registersOf(const Target &target) {
  constexpr int64_t count = 32;
  if (isSve(target.isa))
    return {target.vectorBits / 8, count, 8};
  return {granuleBits / 8, count, 0};
}

void refine(ContractionStrategy &strategy, const Target &target) {
  strategy.hasQuadDots = target.has(CpuIsa::NeonBf16); // I8MM
  strategy.hasSameSignDots = hasSameSignDots(target);
  strategy.hasMatrices = false;
  strategy.patchBytes = target.hasPatchDots() ? 8 : 0;
  strategy.indexedBytes = granuleBits / 8;
  if (isSve(target.isa)) // two of the eight stay free, because otherwise the allocator inserts moves
    strategy.indexedRegisters = 6;
  // Up to four products start per cycle, and each takes four cycles. With 20 sums, loads leave enough slots on Neoverse
  // N1.
  strategy.minSums = 20;
  strategy.l2PrefetchBytes = strategy.memoryPrefetchBytes = 0; // Neoverse prefetchers continue on the next page
}

/// The address arithmetic of an iteration matters on cores with few issue slots, and four pipelines need eight
/// independent maxima. Math functions are about twenty operations per vector.
constexpr int64_t maxVectors = 8, maxOperations = 48, vectorsOfPair = 2;

void refineMap(MapStrategy &strategy) {
  strategy.unroll = maxVectors;
  strategy.stepOps = maxOperations;
  strategy.vectorsPerAccess = vectorsOfPair;
}

void refineRows(RowsStrategy &strategy) {
  strategy.unroll = maxVectors;
  strategy.sweepOps = maxOperations;
  strategy.storesShare = 1;
  strategy.vectorsPerAccess = vectorsOfPair;
  strategy.hasNumberMax = true;
}

LlvmCpu llvmCpuOf(const Target &target) {
  std::string features = "+v8.2a,+neon,+fp-armv8,+lse";
  if (target.has(CpuIsa::NeonDotprod))
    features += ",+dotprod";
  if (target.has(CpuIsa::NeonBf16))
    features += ",+bf16,+i8mm";
  if (target.has(CpuIsa::Sve))
    features += ",+fullfp16,+sve";
  return {"generic", features};
}

void prepare(llvm::Function &function, const Target &target) {
  useMaxInstructions(function);
  placeAddresses(function);
  annotateTripCounts(function);
  const auto granules = isSve(target.isa) ? static_cast<unsigned>(target.vectorBits / granuleBits) : 1U;
  constexpr int64_t ofPair = 1024, ofVector = 8; // offset ranges: bytes for NEON pairs, vectors for SVE
  placePanels(function, granules > 1 ? ofVector * target.vectorBits / 8 : ofPair);
  if (isSve(target.isa)) {
    placeFloatVectors(function);
    function.addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(function.getContext(), granules, granules));
  }
  if (granules > 1) // with 128-bit registers, NEON instructions are used
    useScalableVectors(function, granules);
  else
    useRegisterLists(function);
  useIndexedProducts(function, granules);
}

/// Returns true if an operand is an SVE predicate ("PPR_3b" and the like), which determines the accessed lanes. NEON
/// has no masks.
bool isMasked(const llvm::MachineInstr &instruction) {
  const llvm::TargetRegisterInfo &registers = *instruction.getMF()->getSubtarget().getRegisterInfo();
  auto isPredicate = [&](const llvm::MCOperandInfo &operand) {
    return operand.RegClass >= 0 && operand.OperandType == llvm::MCOI::OPERAND_REGISTER &&
           llvm::StringRef(registers.getRegClassName(registers.getRegClass(operand.RegClass))).starts_with("PPR");
  };
  return llvm::any_of(instruction.getDesc().operands(), isPredicate);
}

void initializeLlvm() {
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  registerWideRegisters();
}

/// Neoverse N1 has NEON and byte dots; V1 and V2 also have BF16, I8MM and SVE, of 256 and of 128 bits. LLVM has no
/// model with longer registers.
std::vector<const char *> processorsOf(const Target &target) {
  if (isSve(target.isa))
    return {target.vectorBits == granuleBits ? "neoverse-v2" : "neoverse-v1"};
  if (target.has(CpuIsa::NeonBf16))
    return {"neoverse-v1", "neoverse-v2"};
  return {"neoverse-n1", "neoverse-v1", "neoverse-v2"};
}

constexpr llvm::StringLiteral virtualPasses[] = {"aarch64-mi-peephole-opt"};
constexpr llvm::StringLiteral allocationPasses[] = {wideRegistersName};
/// Pairs of loads and of stores are formed late; SVE instructions with a prefix are bundled until the end.
constexpr llvm::StringLiteral physicalPasses[] = {"aarch64-expand-pseudo", "aarch64-ldst-opt", "unpack-mi-bundles"};
/// A conditional branch reaches 32 KiB or 1 MiB.
constexpr llvm::StringLiteral placedPasses[] = {"branch-relaxation"};

} // namespace

const Architecture &aarch64Architecture() {
  static constexpr Architecture architecture{.triple = "aarch64-unknown-linux-gnu",
                                             .assemblyComment = "// ",
                                             .registersOf = registersOf,
                                             .refine = refine,
                                             .refineMap = refineMap,
                                             .refineRows = refineRows,
                                             .storeFence = "", // non-temporal stores are ordered like others
                                             .initializeLlvm = initializeLlvm,
                                             .llvmCpuOf = llvmCpuOf,
                                             .prepare = prepare,
                                             .isMasked = isMasked,
                                             .processorsOf = processorsOf,
                                             .virtualPasses = virtualPasses,
                                             .allocationPasses = allocationPasses,
                                             .physicalPasses = physicalPasses,
                                             .placedPasses = placedPasses};
  return architecture;
}

} // namespace quern
