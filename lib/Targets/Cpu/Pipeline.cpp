//===- Pipeline.cpp - Lowering of kernels to the LLVM dialect -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Memrefs become bare pointers (every address within one is already a flat index). The kernel ABI is added after the
// conversion, when an argument is a pointer that a load from the argument block can replace. No pointer is marked
// noalias, because an execution may be in place.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Pipeline.h"

#include "Targets/Cpu/Architecture.h"
#include "Targets/Cpu/FlatAccess.h"
#include "Transforms/Transforms.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace quern {

namespace {

bool surelyRuns(scf::ForOp loop) {
  APInt lower, upper;
  return matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) &&
         matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) && lower.slt(upper);
}

/// Lowers scf.for with its test at the bottom: one branch per iteration, while MLIR's lowering has two. A loop that may
/// have no iteration gets a test before it.
void lowerToBottomTest(scf::ForOp loop, RewriterBase &rewriter) {
  Location loc = loop.getLoc();
  bool runs = surelyRuns(loop);
  Block *before = loop->getBlock(), *after = rewriter.splitBlock(before, loop->getIterator());
  Block *first = &loop.getRegion().front(), *last = &loop.getRegion().back(), *exit = after;
  rewriter.inlineRegionBefore(loop.getRegion(), after);
  if (loop.getNumResults()) {
    exit = rewriter.createBlock(after, loop.getResultTypes(), SmallVector<Location>(loop.getNumResults(), loc));
    cf::BranchOp::create(rewriter, loc, after);
  }

  // A block may not branch to itself here: converting its own arguments would leave the branch in an erased block.
  auto yield = cast<scf::YieldOp>(last->getTerminator());
  Block *latch = rewriter.splitBlock(last, yield->getIterator());
  rewriter.setInsertionPointToEnd(last);
  cf::BranchOp::create(rewriter, loc, latch);
  rewriter.setInsertionPointToEnd(latch);
  Value next = arith::AddIOp::create(rewriter, loc, first->getArgument(0), loop.getStep());
  Value again = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, next, loop.getUpperBound());
  SmallVector<Value> carried{next};
  llvm::append_range(carried, yield.getOperands());
  cf::CondBranchOp::create(rewriter, loc, again, first, carried, exit, yield.getOperands());
  rewriter.eraseOp(yield);

  rewriter.setInsertionPointToEnd(before);
  SmallVector<Value> initial{loop.getLowerBound()};
  llvm::append_range(initial, loop.getInitArgs());
  if (runs) {
    cf::BranchOp::create(rewriter, loc, first, initial);
  } else {
    Value any =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
    cf::CondBranchOp::create(rewriter, loc, any, first, initial, exit, loop.getInitArgs());
  }
  rewriter.replaceOp(loop, exit->getArguments().take_front(loop.getNumResults()));
}

/// Inlines the blocks of one side of an scf.if before `exit`, and returns the first; `exit` if the side is empty.
Block *inlineSide(Region &side, Block *exit, RewriterBase &rewriter) {
  if (side.empty())
    return exit;
  Block *first = &side.front();
  Operation *yield = side.back().getTerminator();
  rewriter.setInsertionPoint(yield);
  cf::BranchOp::create(rewriter, yield->getLoc(), exit, yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineRegionBefore(side, exit);
  return first;
}

void lowerChoice(scf::IfOp choice, RewriterBase &rewriter) {
  Location loc = choice.getLoc();
  Block *before = choice->getBlock(), *after = rewriter.splitBlock(before, choice->getIterator()), *exit = after;
  if (choice.getNumResults()) {
    exit = rewriter.createBlock(after, choice.getResultTypes(), SmallVector<Location>(choice.getNumResults(), loc));
    cf::BranchOp::create(rewriter, loc, after);
  }
  Block *yes = inlineSide(choice.getThenRegion(), exit, rewriter);
  Block *no = inlineSide(choice.getElseRegion(), exit, rewriter);
  rewriter.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(rewriter, loc, choice.getCondition(), yes, no);
  rewriter.replaceOp(choice, exit->getArguments().take_front(choice.getNumResults()));
}

/// Lowers scf.for and scf.if, outer ones first.
void lowerControl(func::FuncOp function) {
  SmallVector<Operation *> structured;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::ForOp, scf::IfOp>(op))
      structured.push_back(op);
  });
  IRRewriter rewriter(function.getContext());
  for (Operation *op : structured)
    if (auto loop = dyn_cast<scf::ForOp>(op))
      lowerToBottomTest(loop, rewriter);
    else
      lowerChoice(cast<scf::IfOp>(op), rewriter);
}

/// Properties of the func.func that its LLVM function needs.
struct KernelSignature {
  StringAttr name;
  unsigned tensors = 0;
  SmallVector<int32_t> blockFields; ///< for each argument after the tensors: its index in the argument block
};

/// Returns the index in quern_kernel_args_t of an argument after the tensors; 0 for a tensor, which is in the list of
/// buffers.
int32_t blockFieldOf(func::FuncOp function, unsigned argument) {
  const StringRef fields[] = {attr::scratch, attr::shared, attr::sizes};
  const auto *found =
      llvm::find_if(fields, [&](StringRef name) { return function.getArgAttr(argument, name) != nullptr; });
  return found == std::end(fields) ? 0 : static_cast<int32_t>(found - fields) + 1;
}

/// Reads the signature, and records on the kernel the types that its lowered form no longer has.
FailureOr<KernelSignature> readSignature(func::FuncOp function) {
  auto fail = [&](const Twine &why) -> FailureOr<KernelSignature> {
    return function.emitError("lower: @") << function.getName() << ' ' << why;
  };
  if (!isKernel(function))
    return fail("is not a kernel: it has no quern.kernel");
  unsigned count = function.getNumArguments();
  if (count < 2 || !function.getArgument(count - 1).getType().isIndex() ||
      !function.getArgument(count - 2).getType().isIndex())
    return fail("does not end with begin: index, end: index");
  KernelSignature signature{function.getNameAttr(), 0, {}};
  SmallVector<ArgumentAttr> tensors;
  for (unsigned i = 0; i + 2 < count; ++i) {
    auto type = dyn_cast<MemRefType>(function.getArgument(i).getType());
    const int32_t field = blockFieldOf(function, i);
    if (!type || (field ? llvm::is_contained(signature.blockFields, field) : !signature.blockFields.empty()))
      return fail("has arguments other than tensors, then one each of shared, scratch and sizes, then begin and end");
    if (field)
      signature.blockFields.push_back(field);
    else
      tensors.push_back(describeArgument(function, i));
  }
  signature.tensors = tensors.size();
  function->setAttr(LoweredAttr::name, LoweredAttr::get(function.getContext(), tensors, /*group_bytes=*/0));
  return signature;
}

/// Changes (pointers…, begin, end) to (args, begin, end); the pointers are loaded from the structure of
/// include/quern/kernel_abi.h.
void wrapInKernelAbi(LLVM::LLVMFuncOp function, const KernelSignature &signature) {
  Block &entry = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Location loc = function.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(function.getContext());
  unsigned tensors = signature.tensors, replaced = entry.getNumArguments() - 2;
  Value args = entry.insertArgument(0u, pointer, loc);
  auto loadAt = [&](Value base, int32_t index) -> Value {
    if (index)
      base = LLVM::GEPOp::create(builder, loc, pointer, pointer, base, ArrayRef<LLVM::GEPArg>{index});
    return LLVM::LoadOp::create(builder, loc, pointer, base);
  };
  Value buffers = tensors ? loadAt(args, 0) : Value();
  for (unsigned i = 0; i < replaced; ++i)
    entry.getArgument(1 + i).replaceAllUsesWith(i < tensors ? loadAt(buffers, static_cast<int32_t>(i))
                                                            : loadAt(args, signature.blockFields[i - tensors]));
  entry.eraseArguments(1, replaced);
  Type i64 = builder.getI64Type();
  function.removeArgAttrsAttr();
  function.setFunctionType(
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(function.getContext()), {pointer, i64, i64}));
}

/// Emits `fence` before each return of a kernel with non-temporal stores, because these are not ordered with the stores
/// that signal other threads that the kernel is done.
void fenceStreamedStores(LLVM::LLVMFuncOp function, StringRef fence) {
  bool streams = function
                     .walk([](LLVM::StoreOp store) {
                       return store.getNontemporal() ? WalkResult::interrupt() : WalkResult::advance();
                     })
                     .wasInterrupted();
  if (!streams)
    return;
  function.walk([&](LLVM::ReturnOp end) {
    OpBuilder builder(end);
    LLVM::CallIntrinsicOp::create(builder, end.getLoc(), builder.getStringAttr(fence), ValueRange());
  });
}

/// Replaces a select of descriptors by one of their pointers, the only field that accesses read.
void choosePointers(LLVM::LLVMFuncOp function) {
  SmallVector<LLVM::SelectOp> choices;
  function.walk([&](LLVM::SelectOp choice) {
    if (isa<LLVM::LLVMStructType>(choice.getType()))
      choices.push_back(choice);
  });
  for (LLVM::SelectOp choice : llvm::reverse(choices)) { // outer selects before those that they select from
    OpBuilder builder(choice);
    Location loc = choice.getLoc();
    constexpr int64_t alignedPointer = 1;
    auto pointerOf = [&](Value descriptor) {
      return LLVM::ExtractValueOp::create(builder, loc, descriptor, alignedPointer);
    };
    Value pointer = LLVM::SelectOp::create(builder, loc, choice.getCondition(), pointerOf(choice.getTrueValue()),
                                           pointerOf(choice.getFalseValue()));
    for (Operation *user : llvm::make_early_inc_range(choice->getUsers()))
      if (auto read = dyn_cast<LLVM::ExtractValueOp>(user); read && read.getPosition() == ArrayRef(alignedPointer)) {
        read.getResult().replaceAllUsesWith(pointer);
        read.erase();
      }
    if (choice->use_empty())
      choice.erase();
  }
}

/// Replaces a load of two or four narrow elements that are used only as one word by a load of the word: selection would
/// have to split the vector type.
void loadWords(LLVM::LLVMFuncOp function) {
  function.walk([](LLVM::ExtractElementOp word) {
    auto cast = word.getVector().getDefiningOp<LLVM::BitcastOp>();
    auto load = cast ? cast.getArg().getDefiningOp<LLVM::LoadOp>() : LLVM::LoadOp();
    auto type = dyn_cast<VectorType>(word.getVector().getType());
    if (!load || !type || type.getNumElements() != 1 || !load->hasOneUse() || !cast->hasOneUse())
      return;
    OpBuilder builder(load);
    Value whole = LLVM::LoadOp::create(builder, load.getLoc(), word.getType(), load.getAddr(), *load.getAlignment());
    word.replaceAllUsesWith(whole);
    word.erase();
    cast.erase();
    load.erase();
  });
}

/// Replaces arguments of blocks with one predecessor, and merges a block that follows an unconditional branch into it.
/// Lowered loops leave many of these.
void joinBlocks(LLVM::LLVMFuncOp function) {
  for (Block &block : llvm::make_early_inc_range(llvm::drop_begin(function.getBody()))) {
    Block *before = block.getSinglePredecessor();
    auto branch = before ? dyn_cast<BranchOpInterface>(before->getTerminator()) : BranchOpInterface();
    if (!branch || before == &block)
      continue;
    SuccessorOperands values = branch.getSuccessorOperands(llvm::find(before->getSuccessors(), &block).getIndex());
    for (auto [i, argument] : llvm::enumerate(block.getArguments()))
      argument.replaceAllUsesWith(values[i]);
    values.erase(0, block.getNumArguments());
    block.eraseArguments(0, block.getNumArguments());
    if (!isa<LLVM::BrOp>(branch))
      continue;
    branch->erase();
    before->getOperations().splice(before->end(), block.getOperations());
    block.erase();
  }
}

/// Returns true if all operations of the module are of the LLVM dialect.
bool isLowered(ModuleOp module) {
  const Dialect *llvm = module.getContext()->getLoadedDialect<LLVM::LLVMDialect>();
  return !module
              .walk([&](Operation *op) {
                return op == module || op->getDialect() == llvm ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

} // namespace

LogicalResult expandForTarget(ModuleOp module, const Target &target) {
  const ExpMethod exp = target.has(CpuIsa::Avx512) ? ExpMethod::Table : ExpMethod::Polynomial;
  for (auto function : module.getOps<func::FuncOp>()) {
    expandSaturation(function, target);
    expandByteSums(function, target);
    expandDots(function, target);
    if (failed(expandNarrowFloats(function, target)) || failed(expandMath(function, target, exp)))
      return failure();
  }
  return success();
}

CpuLowering::CpuLowering(MLIRContext &context)
    : conversion(context,
                 [](LLVMTypeConverter &types, RewritePatternSet &set) { populateFlatAccessPatterns(types, set); }) {}

LogicalResult CpuLowering::run(ModuleOp module, const Target &target, bool verifyIr) {
  if (verifyIr && failed(verify(module)))
    return failure();
  SmallVector<KernelSignature, 2> signatures;
  for (auto function : module.getOps<func::FuncOp>()) {
    // Names and types are those of the scheduled kernel, before bf16 becomes i16.
    FailureOr<KernelSignature> signature = readSignature(function);
    if (failed(signature))
      return failure();
    signatures.push_back(std::move(*signature));
  }
  if (signatures.empty())
    return module.emitError("lower: the module has no kernel");
  if (failed(expandForTarget(module, target)))
    return failure();
  for (auto function : module.getOps<func::FuncOp>())
    prepareForBarePointers(function);
  if (verifyIr && failed(verify(module)))
    return failure();
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    foldMasksOfStores(function);
    lowerControl(function);
    oneToOne.run(function);
    lowerFlatBuffers(function);
  }
  if (!isLowered(module) && failed(conversion.run(module)))
    return failure();
  for (const KernelSignature &signature : signatures) {
    auto function = cast<LLVM::LLVMFuncOp>(module.lookupSymbol(signature.name));
    wrapInKernelAbi(function, signature);
    choosePointers(function);
    forwardDescriptorFields(function);
    loadWords(function);
    joinBlocks(function);
    eraseUnusedSums(function);
    if (const StringRef fence = architectureOf(target).storeFence; !fence.empty())
      fenceStreamedStores(function, fence);
  }
  return verifyIr ? verify(module) : success();
}

} // namespace quern
