//===- Check.cpp - Checking input of the SPIR-V back end ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Allow-lists rather than rules: anything else is refused. Add a missing instruction together with a kernel that runs
// it.
//
//===----------------------------------------------------------------------===//
#include "Targets/Spirv/Check.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace quern {
namespace {

constexpr unsigned supportedInstructions[] = {Instruction::Ret,
                                              Instruction::Br,
                                              Instruction::Switch,
                                              Instruction::Unreachable,
                                              Instruction::FNeg,
                                              Instruction::Add,
                                              Instruction::FAdd,
                                              Instruction::Sub,
                                              Instruction::FSub,
                                              Instruction::Mul,
                                              Instruction::FMul,
                                              Instruction::UDiv,
                                              Instruction::SDiv,
                                              Instruction::FDiv,
                                              Instruction::URem,
                                              Instruction::SRem,
                                              Instruction::Shl,
                                              Instruction::LShr,
                                              Instruction::AShr,
                                              Instruction::And,
                                              Instruction::Or,
                                              Instruction::Xor,
                                              Instruction::Alloca,
                                              Instruction::Load,
                                              Instruction::Store,
                                              Instruction::GetElementPtr,
                                              Instruction::PtrToInt,
                                              Instruction::Trunc,
                                              Instruction::ZExt,
                                              Instruction::SExt,
                                              Instruction::FPToUI,
                                              Instruction::FPToSI,
                                              Instruction::UIToFP,
                                              Instruction::SIToFP,
                                              Instruction::FPTrunc,
                                              Instruction::FPExt,
                                              Instruction::BitCast,
                                              Instruction::ICmp,
                                              Instruction::FCmp,
                                              Instruction::PHI,
                                              Instruction::Call,
                                              Instruction::Select,
                                              Instruction::ExtractElement,
                                              Instruction::InsertElement,
                                              Instruction::ShuffleVector,
                                              Instruction::Freeze};

constexpr Intrinsic::ID supportedIntrinsics[] = {
    Intrinsic::fma,       Intrinsic::sqrt,     Intrinsic::fabs,   Intrinsic::floor,  Intrinsic::ceil, Intrinsic::trunc,
    Intrinsic::roundeven, Intrinsic::copysign, Intrinsic::maxnum, Intrinsic::minnum, Intrinsic::smin, Intrinsic::smax,
    Intrinsic::umin,      Intrinsic::umax,     Intrinsic::abs,    Intrinsic::pow};

/// OpenCL's functions, with MLIR's mangling: any other would become an import that devices do not have.
constexpr StringLiteral supportedFunctions[] = {"_Z12get_group_idj",      "_Z12get_local_idj",
                                                "_Z14get_local_sizej",    "_Z13get_global_idj",
                                                "_Z14get_num_groupsj",    "_Z22get_sub_group_local_id",
                                                "_Z16get_sub_group_id",   "_Z18get_num_sub_groups",
                                                "_Z18get_sub_group_size", "_Z7barrierj"};
/// Prefixes of functions of a scalar and a 32-bit number: the scalar's type is between the prefix and the final j.
constexpr StringLiteral supportedLaneFunctions[] = {"_Z17sub_group_shuffle", "_Z21sub_group_shuffle_xor",
                                                    "_Z20sub_group_shuffle_up", "_Z22sub_group_shuffle_down",
                                                    "_Z19sub_group_broadcast"};

bool isSupported(const Function &declaration) {
  if (declaration.isIntrinsic())
    return is_contained(supportedIntrinsics, declaration.getIntrinsicID());
  StringRef name = declaration.getName();
  if (is_contained(supportedFunctions, name))
    return true;
  return any_of(supportedLaneFunctions, [&](StringRef beginning) {
    StringRef rest = name;
    return rest.consume_front(beginning) && rest.consume_back("j") &&
           is_contained({"c", "s", "i", "l", "Dh", "f", "d"}, rest);
  });
}

class Checker {
public:
  Checker(const Module &module, const DeviceTraits &device) : module(module), device(device) {}

  Result<void> run() {
    for (const GlobalVariable &global : module.globals())
      QUERN_RETURN_IF_ERROR(check(global));
    for (const Function &function : module)
      QUERN_RETURN_IF_ERROR(check(function));
    return {};
  }

private:
  template <typename Thing> static std::string textOf(const Thing &thing) {
    std::string text;
    raw_string_ostream os(text);
    thing.print(os);
    return StringRef(text).split('\n').first.trim().substr(0, 160).str();
  }

  /// Allows scalars, vectors of a length that SPIR-V has, and pointers to OpenCL's address spaces.
  Result<void> checkType(Type *type) {
    if (auto *vector = dyn_cast<FixedVectorType>(type)) {
      if (!is_contained({2u, 3u, 4u, 8u, 16u}, vector->getNumElements()))
        return unimplemented("codegen: SPIR-V has no vectors of ", vector->getNumElements(), " elements");
      type = vector->getElementType();
    }
    if (type->isPointerTy())
      return type->getPointerAddressSpace() <= 3
                 ? Result<void>()
                 : unimplemented("codegen: unknown address space ", type->getPointerAddressSpace());
    bool isInteger = any_of(std::initializer_list<unsigned>{1, 8, 16, 32, 64},
                            [&](unsigned bits) { return type->isIntegerTy(bits); });
    if (isInteger || type->isFloatTy() || type->isVoidTy() || (type->isHalfTy() && device.hasF16))
      return {};
    if (type->isDoubleTy())
      return device.hasF64 ? Result<void>()
                           : unimplemented("codegen: the kernel computes in f64, which the device lacks");
    return unimplemented("codegen: the kernel computes in ", textOf(*type), ", which no device has");
  }

  Result<void> check(const GlobalVariable &global) {
    unsigned space = global.getAddressSpace();
    bool isTable = space == 2 && global.isConstant() && global.hasInitializer();
    bool isGroupMemory = space == 3 && global.hasInitializer() && isa<UndefValue>(global.getInitializer());
    Type *element = global.getValueType();
    while (auto *array = dyn_cast<ArrayType>(element))
      element = array->getElementType();
    if (!isTable && !isGroupMemory)
      return unimplemented("codegen: @", global.getName().str(), " is neither a table of constants nor group memory");
    return checkType(element);
  }

  Result<void> check(const Function &function) {
    if (function.isDeclaration())
      return isSupported(function)
                 ? Result<void>()
                 : unimplemented("codegen: the kernel calls '", function.getName().str(), "', which no device has");
    if (function.getCallingConv() != CallingConv::SPIR_KERNEL)
      return unimplemented("codegen: @", function.getName().str(), " is not a kernel");
    for (const Argument &argument : function.args())
      QUERN_RETURN_IF_ERROR(checkType(argument.getType()));
    for (const Instruction &instruction : instructions(function))
      QUERN_RETURN_IF_ERROR(check(instruction));
    return {};
  }

  Result<void> check(const Instruction &instruction) {
    if (!is_contained(supportedInstructions, instruction.getOpcode()))
      return unimplemented("codegen: '", textOf(instruction), "' is not implemented for SPIR-V");
    if (auto *call = dyn_cast<CallInst>(&instruction); call && !call->getCalledFunction())
      return unimplemented("codegen: '", textOf(instruction), "' is not a direct call of a function");
    if (instruction.isAtomic())
      return unimplemented("codegen: '", textOf(instruction), "' is not implemented for SPIR-V");
    QUERN_RETURN_IF_ERROR(checkType(instruction.getType()));
    for (const Use &operand : instruction.operands())
      if (!isa<BasicBlock, Function, MetadataAsValue>(operand.get()))
        QUERN_RETURN_IF_ERROR(checkType(operand->getType()));
    return {};
  }

  const Module &module;
  const DeviceTraits &device;
};

} // namespace

Result<void> checkForSpirv(const Module &module, const DeviceTraits &device) { return Checker(module, device).run(); }

} // namespace quern
