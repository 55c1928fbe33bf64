//===- AArch64.cpp - What AArch64 contributes to the CPU backend ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// NEON has no masked accesses, so that the recipes end lines element by element or by a vector that overlaps the one
// before. Kernels for SVE are made of vectors of exactly one register, which LLVM computes on SVE's registers where
// these are longer than NEON's; masks are predicates there.
//
//===----------------------------------------------------------------------===//
#include "Targets/AArch64/AArch64.h"

#include "Targets/AArch64/IndexedProducts.h"
#include "Targets/AArch64/ScalableVectors.h"
#include "Targets/AArch64/Selection.h"
#include "Targets/AArch64/WideRegisters.h"

#include "llvm-c/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Attributes.h"

namespace quern {
namespace {

constexpr int32_t granuleBits = 128; ///< SVE's lengths are multiples of it

VectorRegisters registersOf(const Target &target) {
  constexpr int64_t count = 32;
  if (isSve(target.isa))
    return {target.vectorBits / 8, count, 8};
  return {granuleBits / 8, count, 0};
}

void refine(ContractionStrategy &strategy, const Target &target) {
  strategy.hasFma = true;
  strategy.hasQuadDots = target.has(CpuIsa::NeonBf16); // I8MM's
  strategy.hasSameSignDots = target.has(CpuIsa::NeonDotprod) || target.has(CpuIsa::Sve);
  strategy.hasMatrices = false;
  strategy.patchBytes = target.hasPatchDots() ? 8 : 0;
  strategy.indexedBytes = granuleBits / 8;
  if (isSve(target.isa)) // of eight, between which the allocator moves values if they are all
    strategy.indexedRegisters = 6;
  strategy.leastSums = 20; // of up to four that begin in a cycle and take four; loads then leave Neoverse N1 the slots
  strategy.aheadBytes = strategy.farAheadBytes = 0; // Neoverse's prefetchers follow addresses of pages that come next
}

/// A turn of a loop costs instructions for addresses, which cores that begin few of them feel, and four pipelines take
/// eight maxima to keep busy. Functions are about twenty operations a vector.
constexpr int64_t mostVectors = 8, mostOperations = 48, vectorsOfPair = 2;

void refineMap(MapStrategy &strategy) {
  strategy.unroll = mostVectors;
  strategy.stepOps = mostOperations;
  strategy.together = vectorsOfPair;
}

void refineRows(RowsStrategy &strategy) {
  strategy.unroll = mostVectors;
  strategy.sweepOps = mostOperations;
  strategy.storesShare = 1;
  strategy.together = vectorsOfPair;
  strategy.hasNumberMax = true;
}

MathOptions mathOptionsOf(const Target &target) {
  constexpr VectorIsa levels[] = {VectorIsa::Neon, VectorIsa::NeonDotprod, VectorIsa::NeonBf16, VectorIsa::Sve,
                                  VectorIsa::SveBf16};
  const int level = static_cast<int>(target.isa) - static_cast<int>(CpuIsa::Neon);
  return {levels[level], ExpMethod::Polynomial};
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
  tellTurns(function);
  const auto granules = isSve(target.isa) ? static_cast<unsigned>(target.vectorBits / granuleBits) : 1U;
  constexpr int64_t ofPair = 1024, ofVector = 8; // a pair of NEON's registers, and vectors of SVE
  placePanels(function, granules > 1 ? ofVector * target.vectorBits / 8 : ofPair);
  if (isSve(target.isa)) {
    placeFloatVectors(function);
    function.addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(function.getContext(), granules, granules));
  }
  if (granules > 1) // NEON's are used where they are as long
    useScalableVectors(function, granules);
  else
    useRegisterLists(function);
  useIndexedProducts(function, granules);
}

/// A predicate of SVE ("PPR_3b" and the like) decides which lanes are accessed. NEON has no masks.
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

/// Neoverse N1 has NEON and dots of bytes, V1 and V2 BF16, I8MM and SVE of 256 and of 128 bits, too. There is no model
/// of longer ones.
std::vector<const char *> processorsOf(const Target &target) {
  if (isSve(target.isa))
    return {target.vectorBits == granuleBits ? "neoverse-v2" : "neoverse-v1"};
  if (target.has(CpuIsa::NeonBf16))
    return {"neoverse-v1", "neoverse-v2"};
  return {"neoverse-n1", "neoverse-v1", "neoverse-v2"};
}

constexpr llvm::StringLiteral virtualPasses[] = {"aarch64-mi-peephole-opt"};
constexpr llvm::StringLiteral allocationPasses[] = {wideRegistersName};
/// Pairs of loads and of stores are made late; what SVE prefixes is in bundles until the end.
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
                                             .mathOptionsOf = mathOptionsOf,
                                             .storeFence = "", // what is past the caches is ordered like the rest
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
