//===- Outline.cpp - quern-outline ---------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each run is tried as it will be used at run time: the compiler reads and partitions its function. A refused run is
// tried again without the operations that are refused individually.
//
//===----------------------------------------------------------------------===//
#include "Plugin/Passes.h"
#include "Plugin/Runs.h"

#include "quern-compiler/Functions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace quern;
using namespace quern::plugin;

namespace {

class OutlinePass : public PassWrapper<OutlinePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OutlinePass)
  OutlinePass() = default;
  OutlinePass(const OutlinePass &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "quern-outline"; }
  StringRef getDescription() const final {
    return "Move linalg on tensors that Quern supports into separate functions";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<func::FuncDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }
  void runOnOperation() final;

private:
  using Refused = llvm::SmallPtrSet<Operation *, 8>;
  void outlineBlock(Block &block);
  bool outlineRun(const Run &run);
  void refuse(const Run &run, Refused &refused);
  std::string whyNot(const Run &run, OutlinedRun &outlined);

  Option<std::string> target{*this, "target",
                             llvm::cl::desc("Target that must support the functions (default: native)"),
                             llvm::cl::init("native")};
  ListOption<std::string> ops{*this, "ops",
                              llvm::cl::desc("Names of operations to move (default: all that are supported)")};
  ListOption<std::string> functions{*this, "functions", llvm::cl::desc("Names of functions to process (default: all)")};
  Option<unsigned> minOps{*this, "min-ops",
                          llvm::cl::desc("Minimum number of computing operations in a run (default: 1)"),
                          llvm::cl::init(1)};
  Option<bool> allowNaive{*this, "allow-naive",
                          llvm::cl::desc("Move operations that no recipe supports, as scalar loops (default: false)"),
                          llvm::cl::init(false)};
  Option<std::string> prefix{*this, "prefix", llvm::cl::desc("Prefix of the functions' names (default: quern_)"),
                             llvm::cl::init("quern_")};
  Option<bool> remarks{*this, "remarks",
                       llvm::cl::desc("Report the operations that are not moved, and why (default: false)"),
                       llvm::cl::init(false)};
  std::string reason;     ///< reason of the last refusal
  unsigned nameCount = 0; ///< number with which the search for the next name starts
};

/// Outlines a run as the function `outlined`. Returns "" if the function is supported, otherwise the reason.
std::string OutlinePass::whyNot(const Run &run, OutlinedRun &outlined) {
  std::string name;
  do
    name = prefix + std::to_string(nameCount++);
  while (getOperation().lookupSymbol(name));
  FailureOr<OutlinedRun> written = outline(run, name);
  if (failed(written))
    return "its results are not used, or a result is a new tensor of an open size";
  outlined = std::move(*written);
  std::string why = compiler::whyNoKernel(outlined.function, target, allowNaive);
  if (!why.empty()) {
    outlined.function.erase();
    --nameCount;
  }
  return why;
}

bool OutlinePass::outlineRun(const Run &run) {
  OutlinedRun outlined;
  reason = whyNot(run, outlined);
  if (!reason.empty())
    return false;
  outlined.function->setAttr(outlinedAttr, UnitAttr::get(&getContext()));
  if (allowNaive)
    outlined.function->setAttr(allowNaiveAttr, UnitAttr::get(&getContext()));
  getOperation().push_back(outlined.function);
  replaceByCall(run, outlined);
  return true;
}

/// Adds the operations of a run that are refused individually to `refused`; if there are none, all of its operations.
void OutlinePass::refuse(const Run &run, Refused &refused) {
  const std::string reasonOfRun = reason;
  const size_t before = refused.size();
  for (Operation *op : run.ops) {
    if (run.ops.size() > 1) {
      Run single;
      single.ops.insert(op);
      OutlinedRun outlined;
      reason = single.computing() ? whyNot(single, outlined) : std::string();
      if (reason.empty()) {
        if (outlined.function)
          outlined.function.erase();
        continue;
      }
    }
    refused.insert(op);
    if (remarks)
      op->emitRemark("left as it is: ") << reason;
  }
  if (refused.size() > before)
    return;
  if (remarks)
    run.ops.front()->emitRemark("left with the next ") << run.ops.size() - 1 << ": " << reasonOfRun;
  refused.insert(run.ops.begin(), run.ops.end());
}

void OutlinePass::outlineBlock(Block &block) {
  Refused refused;
  auto mayTake = [&](Operation *op) {
    const bool isNamed = ops.empty() || !isa<linalg::LinalgOp, linalg::SoftmaxOp>(op) ||
                         llvm::is_contained(*ops, op->getName().getStringRef());
    return isNamed && !refused.contains(op);
  };
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (const Run &run : runsOf(block, mayTake))
      if (run.computing() >= minOps && !outlineRun(run)) {
        refuse(run, refused);
        isChanged = true;
      }
  }
  for (Operation &op : block)
    if (remarks && isa<linalg::LinalgOp, linalg::SoftmaxOp>(op) && !refused.contains(&op))
      if (std::string why = whyInNoRun(&op); !why.empty())
        op.emitRemark("left as it is: ") << why;
}

void OutlinePass::runOnOperation() {
  SmallVector<Block *> blocks;
  getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto function = dyn_cast<func::FuncOp>(op);
    const bool isLeft = function && !functions.empty() && !llvm::is_contained(*functions, function.getName());
    if (isa<linalg::LinalgOp>(op) || op->hasAttr(outlinedAttr) || isLeft)
      return WalkResult::skip();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!isa<ModuleOp>(op))
          blocks.push_back(&block);
    return WalkResult::advance();
  });
  nameCount = 0;
  for (Block *block : blocks)
    outlineBlock(*block);
}

} // namespace

std::unique_ptr<Pass> plugin::createOutlinePass() { return std::make_unique<OutlinePass>(); }
