//===- DirectTranslation.cpp - Kernels of the LLVM dialect as LLVM IR -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Blocks are created in their order in the function and filled in dominance order, in which values come before their
// uses.
//
//===----------------------------------------------------------------------===//
#include "Targets/DirectTranslation.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/TypeToLLVM.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Analysis/TargetFolder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Metadata.h"

using namespace mlir;

namespace {

using BinaryOps = llvm::Instruction::BinaryOps;
using CastOps = llvm::Instruction::CastOps;

llvm::FastMathFlags flagsOf(LLVM::FastmathFlags flags) {
  llvm::FastMathFlags result;
  auto has = [&](LLVM::FastmathFlags flag) { return bitEnumContainsAll(flags, flag); };
  result.setNoNaNs(has(LLVM::FastmathFlags::nnan));
  result.setNoInfs(has(LLVM::FastmathFlags::ninf));
  result.setNoSignedZeros(has(LLVM::FastmathFlags::nsz));
  result.setAllowReciprocal(has(LLVM::FastmathFlags::arcp));
  result.setAllowContract(has(LLVM::FastmathFlags::contract));
  result.setApproxFunc(has(LLVM::FastmathFlags::afn));
  result.setAllowReassoc(has(LLVM::FastmathFlags::reassoc));
  return result;
}

class KernelTranslation {
public:
  KernelTranslation(llvm::Module &module)
      : module(module), types(module.getContext()),
        builder(module.getContext(), llvm::TargetFolder(module.getDataLayout())) {}

  /// Translates a function into the LLVM module. Returns false if it has an unknown operation or attribute.
  bool translate(LLVM::LLVMFuncOp function);

private:
  llvm::Type *typeOf(Type type) { return types.translateType(type); }
  llvm::Value *at(Value value) const { return values.lookup(value); }
  llvm::SmallVector<llvm::Value *> allOf(ValueRange operands) const {
    return llvm::map_to_vector(operands, [&](Value operand) { return at(operand); });
  }
  llvm::BasicBlock *at(Block *block) const { return blocks.lookup(block); }

  static bool isPlain(LLVM::LLVMFuncOp function);
  bool translate(Block &block);
  /// Translates an operation; each function below translates operations of one kind. All return null for other kinds
  /// and for unsupported properties.
  llvm::Value *translate(Operation &op);
  llvm::Value *arithmetic(Operation &op);
  llvm::Value *conversion(Operation &op);
  llvm::Value *ofVector(Operation &op);
  llvm::Value *access(Operation &op);
  llvm::Value *intrinsic(Operation &op);
  llvm::Value *control(Operation &op);
  llvm::Constant *constant(LLVM::ConstantOp op);
  llvm::Value *address(LLVM::GEPOp op);
  llvm::Value *call(LLVM::CallIntrinsicOp op);
  void setFlags(Operation &op, llvm::Value *value);
  void fillPhis(Region &body);

  llvm::Value *binary(BinaryOps opcode, Operation &op) {
    return builder.CreateBinOp(opcode, at(op.getOperand(0)), at(op.getOperand(1)));
  }
  llvm::Value *cast(CastOps opcode, Operation &op) {
    return builder.CreateCast(opcode, at(op.getOperand(0)), typeOf(op.getResult(0).getType()));
  }
  llvm::CallInst *call(llvm::Intrinsic::ID id, ArrayRef<llvm::Type *> overloads, ArrayRef<llvm::Value *> arguments) {
    return builder.CreateCall(llvm::Intrinsic::getOrInsertDeclaration(&module, id, overloads), arguments);
  }
  /// Calls an intrinsic that is overloaded on the type of operand `typed`.
  llvm::Value *simple(llvm::Intrinsic::ID id, Operation &op, unsigned typed = 0) {
    llvm::SmallVector<llvm::Value *> arguments = allOf(op.getOperands());
    return call(id, {arguments[typed]->getType()}, arguments);
  }

  llvm::Module &module;
  LLVM::TypeToLLVMIRTranslator types;
  llvm::IRBuilder<llvm::TargetFolder> builder;
  llvm::DenseMap<Value, llvm::Value *> values;
  llvm::DenseMap<Block *, llvm::BasicBlock *> blocks;
};

llvm::Value *KernelTranslation::arithmetic(Operation &op) {
  return llvm::TypeSwitch<Operation *, llvm::Value *>(&op)
      .Case([&](LLVM::AddOp) { return binary(BinaryOps::Add, op); })
      .Case([&](LLVM::SubOp) { return binary(BinaryOps::Sub, op); })
      .Case([&](LLVM::MulOp) { return binary(BinaryOps::Mul, op); })
      .Case([&](LLVM::UDivOp) { return binary(BinaryOps::UDiv, op); })
      .Case([&](LLVM::SDivOp) { return binary(BinaryOps::SDiv, op); })
      .Case([&](LLVM::URemOp) { return binary(BinaryOps::URem, op); })
      .Case([&](LLVM::AndOp) { return binary(BinaryOps::And, op); })
      .Case([&](LLVM::OrOp) { return binary(BinaryOps::Or, op); })
      .Case([&](LLVM::XOrOp) { return binary(BinaryOps::Xor, op); })
      .Case([&](LLVM::ShlOp) { return binary(BinaryOps::Shl, op); })
      .Case([&](LLVM::LShrOp) { return binary(BinaryOps::LShr, op); })
      .Case([&](LLVM::AShrOp) { return binary(BinaryOps::AShr, op); })
      .Case([&](LLVM::FAddOp) { return binary(BinaryOps::FAdd, op); })
      .Case([&](LLVM::FSubOp) { return binary(BinaryOps::FSub, op); })
      .Case([&](LLVM::FMulOp) { return binary(BinaryOps::FMul, op); })
      .Case([&](LLVM::FDivOp) { return binary(BinaryOps::FDiv, op); })
      .Case([&](LLVM::FNegOp) { return builder.CreateFNeg(at(op.getOperand(0))); })
      .Case([&](LLVM::ICmpOp compare) {
        static constexpr llvm::CmpInst::Predicate predicates[] = {
            llvm::CmpInst::ICMP_EQ,  llvm::CmpInst::ICMP_NE,  llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_SLE,
            llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_SGE, llvm::CmpInst::ICMP_ULT, llvm::CmpInst::ICMP_ULE,
            llvm::CmpInst::ICMP_UGT, llvm::CmpInst::ICMP_UGE};
        return builder.CreateICmp(predicates[static_cast<size_t>(compare.getPredicate())], at(compare.getLhs()),
                                  at(compare.getRhs()));
      })
      .Case([&](LLVM::FCmpOp compare) { // LLVM has a different order of predicates
        static constexpr llvm::CmpInst::Predicate predicates[] = {
            llvm::CmpInst::FCMP_FALSE, llvm::CmpInst::FCMP_OEQ, llvm::CmpInst::FCMP_OGT, llvm::CmpInst::FCMP_OGE,
            llvm::CmpInst::FCMP_OLT,   llvm::CmpInst::FCMP_OLE, llvm::CmpInst::FCMP_ONE, llvm::CmpInst::FCMP_ORD,
            llvm::CmpInst::FCMP_UEQ,   llvm::CmpInst::FCMP_UGT, llvm::CmpInst::FCMP_UGE, llvm::CmpInst::FCMP_ULT,
            llvm::CmpInst::FCMP_ULE,   llvm::CmpInst::FCMP_UNE, llvm::CmpInst::FCMP_UNO, llvm::CmpInst::FCMP_TRUE};
        return builder.CreateFCmp(predicates[static_cast<size_t>(compare.getPredicate())], at(compare.getLhs()),
                                  at(compare.getRhs()));
      })
      .Case([&](LLVM::SelectOp choice) {
        return builder.CreateSelect(at(choice.getCondition()), at(choice.getTrueValue()), at(choice.getFalseValue()));
      })
      .Default([](Operation *) { return nullptr; });
}

llvm::Value *KernelTranslation::conversion(Operation &op) {
  return llvm::TypeSwitch<Operation *, llvm::Value *>(&op)
      .Case([&](LLVM::BitcastOp) { return cast(CastOps::BitCast, op); })
      .Case([&](LLVM::SExtOp) { return cast(CastOps::SExt, op); })
      .Case([&](LLVM::ZExtOp) { return cast(CastOps::ZExt, op); })
      .Case([&](LLVM::TruncOp) { return cast(CastOps::Trunc, op); })
      .Case([&](LLVM::FPExtOp) { return cast(CastOps::FPExt, op); })
      .Case([&](LLVM::FPTruncOp) { return cast(CastOps::FPTrunc, op); })
      .Case([&](LLVM::SIToFPOp) { return cast(CastOps::SIToFP, op); })
      .Case([&](LLVM::UIToFPOp) { return cast(CastOps::UIToFP, op); })
      .Case([&](LLVM::FPToSIOp) { return cast(CastOps::FPToSI, op); })
      .Case([&](LLVM::PtrToIntOp) { return cast(CastOps::PtrToInt, op); })
      .Case([&](LLVM::IntToPtrOp) { return cast(CastOps::IntToPtr, op); })
      .Default([](Operation *) { return nullptr; });
}

llvm::Value *KernelTranslation::ofVector(Operation &op) {
  return llvm::TypeSwitch<Operation *, llvm::Value *>(&op)
      .Case([&](LLVM::ConstantOp number) { return constant(number); })
      .Case([&](LLVM::PoisonOp none) { return llvm::PoisonValue::get(typeOf(none.getType())); })
      .Case([&](LLVM::ExtractElementOp element) {
        return builder.CreateExtractElement(at(element.getVector()), at(element.getPosition()));
      })
      .Case([&](LLVM::InsertElementOp whole) {
        return builder.CreateInsertElement(at(whole.getVector()), at(whole.getValue()), at(whole.getPosition()));
      })
      .Case([&](LLVM::ShuffleVectorOp shuffle) {
        return builder.CreateShuffleVector(at(shuffle.getV1()), at(shuffle.getV2()), shuffle.getMask());
      })
      .Default([](Operation *) { return nullptr; });
}

llvm::Value *KernelTranslation::address(LLVM::GEPOp op) {
  llvm::SmallVector<llvm::Value *> indices;
  for (auto index : op.getIndices())
    if (auto known = dyn_cast<IntegerAttr>(index))
      indices.push_back(builder.getInt32(known.getInt()));
    else
      indices.push_back(at(cast<Value>(index)));
  const LLVM::GEPNoWrapFlags flags = op.getNoWrapFlags();
  auto has = [&](LLVM::GEPNoWrapFlags flag) { return bitEnumContainsAll(flags, flag); };
  llvm::GEPNoWrapFlags result;
  if (has(LLVM::GEPNoWrapFlags::inboundsFlag))
    result |= llvm::GEPNoWrapFlags::inBounds();
  if (has(LLVM::GEPNoWrapFlags::nusw))
    result |= llvm::GEPNoWrapFlags::noUnsignedSignedWrap();
  if (has(LLVM::GEPNoWrapFlags::nuw))
    result |= llvm::GEPNoWrapFlags::noUnsignedWrap();
  return builder.CreateGEP(typeOf(op.getElemType()), at(op.getBase()), indices, "", result);
}

llvm::Value *KernelTranslation::access(Operation &op) {
  auto mark = [&](llvm::Instruction *instruction, bool isNontemporal) {
    if (isNontemporal)
      instruction->setMetadata(
          llvm::LLVMContext::MD_nontemporal,
          llvm::MDNode::get(module.getContext(), llvm::ConstantAsMetadata::get(builder.getInt32(1))));
    return instruction;
  };
  return llvm::TypeSwitch<Operation *, llvm::Value *>(&op)
      .Case([&](LLVM::GEPOp element) { return address(element); })
      .Case([&](LLVM::LoadOp load) -> llvm::Value * {
        if (load.getVolatile_() || load.getOrdering() != LLVM::AtomicOrdering::not_atomic || load.getInvariant() ||
            load.getInvariantGroup() || load.getDereferenceable() || load.getAccessGroups() || load.getAliasScopes() ||
            load.getNoaliasScopes() || load.getTbaa())
          return nullptr;
        return mark(builder.CreateAlignedLoad(typeOf(load.getType()), at(load.getAddr()),
                                              llvm::MaybeAlign(load.getAlignment().value_or(0))),
                    load.getNontemporal());
      })
      .Case([&](LLVM::StoreOp store) -> llvm::Value * {
        if (store.getVolatile_() || store.getOrdering() != LLVM::AtomicOrdering::not_atomic ||
            store.getInvariantGroup() || store.getAccessGroups() || store.getAliasScopes() ||
            store.getNoaliasScopes() || store.getTbaa())
          return nullptr;
        return mark(builder.CreateAlignedStore(at(store.getValue()), at(store.getAddr()),
                                               llvm::MaybeAlign(store.getAlignment().value_or(0))),
                    store.getNontemporal());
      })
      .Case([&](LLVM::MaskedLoadOp load) -> llvm::Value * {
        if (!load.getPassThru())
          return nullptr;
        return mark(builder.CreateMaskedLoad(typeOf(load.getType()), at(load.getData()),
                                             llvm::Align(load.getAlignment()), at(load.getMask()),
                                             at(load.getPassThru())),
                    load.getNontemporal());
      })
      .Case([&](LLVM::MaskedStoreOp store) {
        return builder.CreateMaskedStore(at(store.getValue()), at(store.getData()), llvm::Align(store.getAlignment()),
                                         at(store.getMask()));
      })
      .Case([&](LLVM::Prefetch fetch) {
        llvm::Value *from = at(fetch.getAddr());
        return call(llvm::Intrinsic::prefetch, {from->getType()},
                    {from, builder.getInt32(fetch.getRw()), builder.getInt32(fetch.getHint()),
                     builder.getInt32(fetch.getCache())});
      })
      .Default([](Operation *) { return nullptr; });
}

llvm::Value *KernelTranslation::intrinsic(Operation &op) {
  return llvm::TypeSwitch<Operation *, llvm::Value *>(&op)
      .Case([&](LLVM::FMAOp) { return simple(llvm::Intrinsic::fma, op); })
      .Case([&](LLVM::FAbsOp) { return simple(llvm::Intrinsic::fabs, op); })
      .Case([&](LLVM::CopySignOp) { return simple(llvm::Intrinsic::copysign, op); })
      .Case([&](LLVM::SMaxOp) { return simple(llvm::Intrinsic::smax, op); })
      .Case([&](LLVM::SMinOp) { return simple(llvm::Intrinsic::smin, op); })
      .Case([&](LLVM::UMaxOp) { return simple(llvm::Intrinsic::umax, op); })
      .Case([&](LLVM::UMinOp) { return simple(llvm::Intrinsic::umin, op); })
      .Case([&](LLVM::vector_reduce_fadd) { return simple(llvm::Intrinsic::vector_reduce_fadd, op, 1); })
      .Case([&](LLVM::vector_reduce_fmax) { return simple(llvm::Intrinsic::vector_reduce_fmax, op); })
      .Case([&](LLVM::vector_reduce_or) { return simple(llvm::Intrinsic::vector_reduce_or, op); })
      .Case([&](LLVM::CallIntrinsicOp named) { return call(named); })
      .Default([](Operation *) { return nullptr; });
}

llvm::Value *KernelTranslation::call(LLVM::CallIntrinsicOp op) {
  if (!op.getOpBundleSizes().empty() || op.getArgAttrs() || op.getResAttrs())
    return nullptr;
  const llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(op.getIntrin());
  if (id == llvm::Intrinsic::not_intrinsic)
    return nullptr;
  llvm::SmallVector<llvm::Value *> arguments = allOf(op.getArgs());
  llvm::SmallVector<llvm::Type *> overloads;
  if (llvm::Intrinsic::isOverloaded(id)) {
    auto *type = llvm::FunctionType::get(
        op->getNumResults() ? typeOf(op->getResult(0).getType()) : builder.getVoidTy(),
        llvm::map_to_vector(arguments, [](llvm::Value *argument) { return argument->getType(); }), /*isVarArg=*/false);
    if (!llvm::Intrinsic::getIntrinsicSignature(id, type, overloads))
      return nullptr;
  }
  return call(id, overloads, arguments);
}

llvm::Value *KernelTranslation::control(Operation &op) {
  return llvm::TypeSwitch<Operation *, llvm::Value *>(&op)
      .Case([&](LLVM::BrOp branch) -> llvm::Value * {
        return branch.getLoopAnnotationAttr() ? nullptr : builder.CreateBr(at(branch.getDest()));
      })
      .Case([&](LLVM::CondBrOp branch) -> llvm::Value * {
        if (branch.getLoopAnnotationAttr() || branch.getBranchWeightsAttr() ||
            branch.getTrueDest() == branch.getFalseDest()) // two edges into one block would need an additional block
          return nullptr;
        return builder.CreateCondBr(at(branch.getCondition()), at(branch.getTrueDest()), at(branch.getFalseDest()));
      })
      .Case(
          [&](LLVM::ReturnOp end) -> llvm::Value * { return end.getNumOperands() ? nullptr : builder.CreateRetVoid(); })
      .Default([](Operation *) { return nullptr; });
}

llvm::Constant *KernelTranslation::constant(LLVM::ConstantOp op) {
  llvm::Type *type = typeOf(op.getType());
  auto numberOf = [&](Attribute number, llvm::Type *numberType) -> llvm::Constant * {
    if (auto integer = dyn_cast<IntegerAttr>(number); integer && numberType->isIntegerTy())
      return llvm::ConstantInt::get(numberType, integer.getValue().sextOrTrunc(numberType->getIntegerBitWidth()));
    auto floating = dyn_cast<FloatAttr>(number);
    return floating && numberType->isFloatingPointTy() ? llvm::ConstantFP::get(numberType, floating.getValue())
                                                       : nullptr;
  };
  if (auto *vector = dyn_cast<llvm::FixedVectorType>(type)) {
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!elements || elements.getNumElements() != vector->getNumElements())
      return nullptr;
    llvm::SmallVector<llvm::Constant *> numbers;
    for (Attribute element : elements.getValues<Attribute>()) {
      numbers.push_back(numberOf(element, vector->getElementType()));
      if (!numbers.back())
        return nullptr;
      if (elements.isSplat())
        return llvm::ConstantVector::getSplat(vector->getElementCount(), numbers.back());
    }
    return llvm::ConstantVector::get(numbers);
  }
  return numberOf(op.getValue(), type);
}

void KernelTranslation::setFlags(Operation &op, llvm::Value *value) {
  auto *instruction = dyn_cast<llvm::Instruction>(value);
  if (!instruction)
    return;
  if (isa<llvm::FPMathOperator>(instruction))
    if (auto flagged = dyn_cast<LLVM::FastmathFlagsInterface>(op))
      instruction->setFastMathFlags(flagsOf(flagged.getFastmathAttr().getValue()));
  if (isa<llvm::OverflowingBinaryOperator, llvm::TruncInst>(instruction))
    if (auto flagged = dyn_cast<LLVM::IntegerOverflowFlagsInterface>(op)) {
      if (flagged.hasNoSignedWrap())
        instruction->setHasNoSignedWrap();
      if (flagged.hasNoUnsignedWrap())
        instruction->setHasNoUnsignedWrap();
    }
  if (isa<llvm::PossiblyExactOperator>(instruction))
    if (auto flagged = dyn_cast<LLVM::ExactFlagInterface>(op); flagged && flagged.getIsExact())
      instruction->setIsExact();
  if (isa<llvm::PossiblyNonNegInst>(instruction))
    if (auto flagged = dyn_cast<LLVM::NonNegFlagInterface>(op); flagged && flagged.getNonNeg())
      instruction->setNonNeg();
  if (auto *either = dyn_cast<llvm::PossiblyDisjointInst>(instruction))
    if (auto flagged = dyn_cast<LLVM::DisjointFlagInterface>(op); flagged && flagged.getIsDisjoint())
      either->setIsDisjoint(true);
}

llvm::Value *KernelTranslation::translate(Operation &op) {
  if (!op.getDiscardableAttrDictionary().empty())
    return nullptr;
  for (auto kind : {&KernelTranslation::ofVector, &KernelTranslation::access, &KernelTranslation::arithmetic,
                    &KernelTranslation::intrinsic, &KernelTranslation::conversion, &KernelTranslation::control})
    if (llvm::Value *translated = (this->*kind)(op))
      return translated;
  return nullptr;
}

bool KernelTranslation::translate(Block &block) {
  builder.SetInsertPoint(at(&block));
  if (!block.isEntryBlock())
    for (BlockArgument argument : block.getArguments())
      values[argument] = builder.CreatePHI(typeOf(argument.getType()),
                                           static_cast<unsigned>(std::distance(block.pred_begin(), block.pred_end())));
  for (Operation &op : block) {
    llvm::Value *translated = translate(op);
    if (!translated)
      return false;
    setFlags(op, translated);
    if (op.getNumResults())
      values[op.getResult(0)] = translated;
  }
  return true;
}

void KernelTranslation::fillPhis(Region &body) {
  for (Block &block : llvm::drop_begin(body))
    for (Block *before : block.getPredecessors()) {
      auto branch = cast<BranchOpInterface>(before->getTerminator());
      const unsigned way = llvm::find(before->getSuccessors(), &block).getIndex();
      SuccessorOperands operands = branch.getSuccessorOperands(way);
      for (BlockArgument argument : block.getArguments())
        cast<llvm::PHINode>(at(argument))->addIncoming(at(operands[argument.getArgNumber()]), at(before));
    }
}

/// Returns true if translate() needs only the function's name, type and body: a definition with external linkage, the C
/// calling convention, no result, no debug information, and no other properties or `llvm.` attributes.
bool KernelTranslation::isPlain(LLVM::LLVMFuncOp function) {
  if (function.isExternal() || function.getLinkage() != LLVM::Linkage::External ||
      function.getCConv() != LLVM::CConv::C || !isa<LLVM::LLVMVoidType>(function.getFunctionType().getReturnType()) ||
      function.getFunctionType().isVarArg() ||
      function.getLoc()->findInstanceOf<FusedLocWith<LLVM::DISubprogramAttr>>())
    return false;
  static constexpr llvm::StringLiteral known[] = {"CConv",          "function_type", "linkage",    "sym_name",
                                                  "sym_visibility", "unnamed_addr",  "visibility_"};
  auto properties = dyn_cast_or_null<DictionaryAttr>(function->getPropertiesAsAttribute());
  if (!properties || !llvm::all_of(properties, [](NamedAttribute attribute) {
        return llvm::is_contained(known, attribute.getName().strref());
      }))
    return false;
  return llvm::none_of(function->getDiscardableAttrs(),
                       [](NamedAttribute attribute) { return attribute.getName().strref().starts_with("llvm."); });
}

bool KernelTranslation::translate(LLVM::LLVMFuncOp function) {
  if (!isPlain(function))
    return false;
  llvm::SmallVector<llvm::Type *> inputs =
      llvm::map_to_vector(function.getArgumentTypes(), [&](Type type) { return typeOf(type); });
  auto *llvmFunction = llvm::Function::Create(llvm::FunctionType::get(builder.getVoidTy(), inputs, /*isVarArg=*/false),
                                              llvm::GlobalValue::ExternalLinkage, function.getName(), module);
  Region &body = function.getBody();
  for (auto [argument, llvmArgument] : llvm::zip_equal(body.getArguments(), llvmFunction->args()))
    values[argument] = &llvmArgument;
  for (Block &block : body)
    blocks[&block] = llvm::BasicBlock::Create(module.getContext(), "", llvmFunction);
  for (Block *block : getBlocksSortedByDominance(body))
    if (!translate(*block))
      return false;
  fillPhis(body);
  return true;
}

} // namespace

std::unique_ptr<llvm::Module> quern::translateKernels(ModuleOp module, llvm::LLVMContext &context) {
  auto isOfLlvm = [](NamedAttribute attribute) {
    return attribute.getName().strref().starts_with("llvm.") || attribute.getName().strref().starts_with("dlti.");
  };
  if (llvm::any_of(module->getAttrs(), isOfLlvm))
    return nullptr;
  auto llvmModule = std::make_unique<llvm::Module>("quern", context);
  llvmModule->addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  KernelTranslation translation(*llvmModule);
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (!function || !translation.translate(function))
      return nullptr;
  }
  return llvmModule;
}
