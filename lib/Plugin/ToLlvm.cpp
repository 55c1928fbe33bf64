//===- ToLlvm.cpp - quern-to-llvm ----------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An outlined function keeps its signature, so that any later lowering of functions and memrefs can process it. Its
// body becomes LLVM dialect that calls libquern. The original body is passed as bytecode in a constant, and the
// arguments as descriptors in the layout of upstream's memref lowering.
//
//===----------------------------------------------------------------------===//
#include "Plugin/Passes.h"

#include "quern-compiler/Functions.h"
#include "quern/quern_mlir_call.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::plugin;

namespace {

/// The data of a function that was compiled ahead of time, in addition to its bytecode: the line of its problem, and an
/// artifact, with the code or, if `entries` are linked, without it.
struct Ahead {
  std::string line, artifact;
  std::vector<std::string> entries;
};

/// Declares the runtime's functions and types in one module, and emits calls of the functions.
class RuntimeCalls {
public:
  RuntimeCalls(ModuleOp module, StringRef onFailure)
      : module(module), onFailure(onFailure), builder(module.getBodyRegion()), converter(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i32(builder.getI32Type()), i64(builder.getI64Type()),
        functionType(LLVM::LLVMStructType::getLiteral(
            module.getContext(), {pointer, i64, pointer, pointer, pointer, i64, i64, pointer, pointer, i64})),
        memrefType(LLVM::LLVMStructType::getLiteral(module.getContext(), {i64, pointer})) {}

  /// Replaces the body of `function` by a call of libquern that passes `bytecode`. `ahead` may be null.
  LogicalResult writeBody(func::FuncOp function, StringRef bytecode, const Ahead *ahead);
  /// Creates the module's destructor, which releases the state of its call sites.
  LogicalResult writeDestructor();

private:
  std::string constant(StringRef name, StringRef bytes);
  LLVM::GlobalOp writeRecord(func::FuncOp function, StringRef bytecode, const Ahead *ahead, LLVM::LLVMFuncOp handler);
  std::string writeEntries(StringRef name, ArrayRef<std::string> entries);
  Value address(OpBuilder &at, Location loc, StringRef name) {
    return LLVM::AddressOfOp::create(at, loc, pointer, name);
  }
  Value number(OpBuilder &at, Location loc, Type type, int64_t value) {
    return LLVM::ConstantOp::create(at, loc, type, at.getIntegerAttr(type, value));
  }
  FailureOr<LLVM::LLVMFuncOp> declare(StringRef name, ArrayRef<Type> arguments, Type result) {
    return LLVM::lookupOrCreateFn(builder, module, name, arguments, result);
  }
  FailureOr<LLVM::LLVMFuncOp> failureHandler();
  Value inMemory(OpBuilder &at, Location loc, Value scalar);
  Value descriptors(OpBuilder &at, func::FuncOp function);

  ModuleOp module;
  StringRef onFailure;
  OpBuilder builder; ///< at the start of the module
  LLVMTypeConverter converter;
  Type pointer, i32, i64;
  LLVM::LLVMStructType functionType; ///< quern_mlir_function_t
  LLVM::LLVMStructType memrefType;   ///< quern_mlir_memref_t
  SmallVector<std::string> sites;
};

/// Creates a constant of these bytes and returns its name.
std::string RuntimeCalls::constant(StringRef name, StringRef bytes) {
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                         builder.getStringAttr(bytes), /*alignment=*/8);
  return name.str();
}

/// Creates a list of the addresses of functions that the program is linked with, and returns its name.
std::string RuntimeCalls::writeEntries(StringRef name, ArrayRef<std::string> entries) {
  Location loc = module.getLoc();
  auto type = LLVM::LLVMArrayType::get(pointer, entries.size());
  auto functionType = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()), {pointer, i64, i64});
  for (const std::string &entry : entries)
    LLVM::LLVMFuncOp::create(builder, loc, entry, functionType, LLVM::Linkage::External);
  auto list =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name, Attribute());
  OpBuilder at(list.getContext());
  at.createBlock(&list.getInitializerRegion());
  Value value = LLVM::UndefOp::create(at, loc, type);
  for (auto [i, entry] : llvm::enumerate(entries))
    value = LLVM::InsertValueOp::create(at, loc, value, address(at, loc, entry),
                                        ArrayRef<int64_t>{static_cast<int64_t>(i)});
  LLVM::ReturnOp::create(at, loc, value);
  return name.str();
}

LLVM::GlobalOp RuntimeCalls::writeRecord(func::FuncOp function, StringRef bytecode, const Ahead *ahead,
                                         LLVM::LLVMFuncOp handler) {
  const std::string name = function.getName().str();
  const std::string code = constant(name + "_module", bytecode);
  const std::string functionName = constant(name + "_name", StringRef(name.c_str(), name.size() + 1));
  const std::string line = ahead ? constant(name + "_line", {ahead->line.c_str(), ahead->line.size() + 1}) : "";
  const std::string kernel = ahead ? constant(name + "_kernel", ahead->artifact) : "";
  const bool isLinked = ahead && !ahead->entries.empty();
  const std::string entries = isLinked ? writeEntries(name + "_entries", ahead->entries) : "";
  Location loc = function.getLoc();
  auto record = LLVM::GlobalOp::create(builder, loc, functionType, true, LLVM::Linkage::Internal, name + "_function",
                                       Attribute());
  OpBuilder at(record.getContext());
  at.createBlock(&record.getInitializerRegion());
  Value null = LLVM::ZeroOp::create(at, loc, pointer);
  const bool allowNaive = function->hasAttr(allowNaiveAttr);
  const Value fields[] = {
      address(at, loc, code),
      number(at, loc, i64, static_cast<int64_t>(bytecode.size())),
      address(at, loc, functionName),
      ahead ? address(at, loc, line) : null,
      ahead ? address(at, loc, kernel) : null,
      number(at, loc, i64, ahead ? static_cast<int64_t>(ahead->artifact.size()) : 0),
      number(at, loc, i64, (allowNaive ? QUERN_MLIR_ALLOW_NAIVE : 0) | (isLinked ? QUERN_MLIR_LINKED : 0)),
      address(at, loc, handler.getName()),
      isLinked ? address(at, loc, entries) : null,
      number(at, loc, i64, isLinked ? static_cast<int64_t>(ahead->entries.size()) : 0)};
  Value value = LLVM::UndefOp::create(at, loc, functionType);
  for (auto [i, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(at, loc, value, field, ArrayRef<int64_t>{static_cast<int64_t>(i)});
  LLVM::ReturnOp::create(at, loc, value);
  return record;
}

/// Stores a number in memory and returns the descriptor of a memref of rank 0, which libquern expects. An index is
/// passed as an s32; if it does not fit, as INT32_MIN, which is below every valid offset or size.
Value RuntimeCalls::inMemory(OpBuilder &at, Location loc, Value scalar) {
  if (scalar.getType().isIndex()) {
    Value wide = UnrealizedConversionCastOp::create(at, loc, i64, scalar).getResult(0);
    Value narrow = LLVM::TruncOp::create(at, loc, i32, wide);
    Value back = LLVM::SExtOp::create(at, loc, i64, narrow);
    Value fits = LLVM::ICmpOp::create(at, loc, LLVM::ICmpPredicate::eq, back, wide);
    scalar = LLVM::SelectOp::create(at, loc, fits, narrow, number(at, loc, i32, INT32_MIN));
  }
  Value one = number(at, loc, i64, 1);
  Value place = LLVM::AllocaOp::create(at, loc, pointer, scalar.getType(), one, 0);
  LLVM::StoreOp::create(at, loc, scalar, place);
  auto type = LLVM::LLVMStructType::getLiteral(module.getContext(), {pointer, pointer, i64});
  Value descriptor = LLVM::UndefOp::create(at, loc, type);
  for (int64_t i = 0; i < 2; ++i)
    descriptor = LLVM::InsertValueOp::create(at, loc, descriptor, place, ArrayRef<int64_t>{i});
  return LLVM::InsertValueOp::create(at, loc, descriptor, number(at, loc, i64, 0), ArrayRef<int64_t>{2});
}

/// Creates an array of quern_mlir_memref_t, one for each argument of `function`, and returns its address.
Value RuntimeCalls::descriptors(OpBuilder &at, func::FuncOp function) {
  Location loc = function.getLoc();
  Value one = number(at, loc, i64, 1);
  auto listType = LLVM::LLVMArrayType::get(memrefType, function.getNumArguments());
  Value list = LLVM::AllocaOp::create(at, loc, pointer, listType, one, 0);
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    Value descriptor =
        type ? UnrealizedConversionCastOp::create(at, loc, converter.convertType(type), argument).getResult(0)
             : inMemory(at, loc, argument);
    Value place = LLVM::AllocaOp::create(at, loc, pointer, descriptor.getType(), one, 0);
    LLVM::StoreOp::create(at, loc, descriptor, place);
    Value entry = LLVM::UndefOp::create(at, loc, memrefType);
    entry = LLVM::InsertValueOp::create(at, loc, entry, number(at, loc, i64, type ? type.getRank() : 0),
                                        ArrayRef<int64_t>{0});
    entry = LLVM::InsertValueOp::create(at, loc, entry, place, ArrayRef<int64_t>{1});
    Value to =
        LLVM::GEPOp::create(at, loc, pointer, listType, list, ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    LLVM::StoreOp::create(at, loc, entry, to);
  }
  return list;
}

/// Returns `void NAME(i32 status, ptr message)`: the caller's function, or one that prints the message and aborts, like
/// upstream's lowering of cf.assert.
FailureOr<LLVM::LLVMFuncOp> RuntimeCalls::failureHandler() {
  auto voidType = LLVM::LLVMVoidType::get(module.getContext());
  if (!onFailure.empty())
    return declare(onFailure, {i32, pointer}, voidType);
  constexpr StringLiteral name = "quern_failed";
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  FailureOr<LLVM::LLVMFuncOp> puts = declare("puts", {pointer}, i32), flush = declare("fflush", {pointer}, i32);
  FailureOr<LLVM::LLVMFuncOp> abort = declare("abort", {}, voidType);
  if (failed(puts) || failed(flush) || failed(abort))
    return failure();
  Location loc = module.getLoc();
  auto handler = LLVM::LLVMFuncOp::create(builder, loc, name, LLVM::LLVMFunctionType::get(voidType, {i32, pointer}),
                                          LLVM::Linkage::Internal);
  OpBuilder at(module.getContext());
  at.setInsertionPointToEnd(handler.addEntryBlock(at));
  LLVM::CallOp::create(at, loc, *puts, handler.getArgument(1));
  LLVM::CallOp::create(at, loc, *flush, LLVM::ZeroOp::create(at, loc, pointer).getResult());
  LLVM::CallOp::create(at, loc, *abort, ValueRange{});
  LLVM::UnreachableOp::create(at, loc);
  return handler;
}

LogicalResult RuntimeCalls::writeBody(func::FuncOp function, StringRef bytecode, const Ahead *ahead) {
  Location loc = function.getLoc();
  FailureOr<LLVM::LLVMFuncOp> call = declare("quern_mlir_call", {pointer, pointer, pointer, i32}, i32);
  FailureOr<LLVM::LLVMFuncOp> handler = failureHandler();
  if (failed(call) || failed(handler))
    return failure();
  LLVM::GlobalOp record = writeRecord(function, bytecode, ahead, *handler);
  const std::string site = (function.getName() + "_site").str();
  auto global = LLVM::GlobalOp::create(builder, loc, pointer, false, LLVM::Linkage::Internal, site, Attribute());
  OpBuilder at(function.getContext());
  at.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(at, loc, LLVM::ZeroOp::create(at, loc, pointer).getResult());
  sites.push_back(site);

  SmallVector<unsigned> returned; // the arguments that the function returns
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  for (Value value : end.getOperands())
    returned.push_back(cast<BlockArgument>(value).getArgNumber());
  function.eraseBody();
  at.setInsertionPointToEnd(function.addEntryBlock());
  Value list = descriptors(at, function);
  LLVM::CallOp::create(at, loc, *call,
                       ValueRange{address(at, loc, site), address(at, loc, record.getSymName()), list,
                                  number(at, loc, i32, function.getNumArguments())});
  func::ReturnOp::create(at, loc,
                         llvm::map_to_vector(returned, [&](unsigned i) -> Value { return function.getArgument(i); }));
  function->removeAttr(outlinedAttr);
  function->removeAttr(allowNaiveAttr);
  return success();
}

LogicalResult RuntimeCalls::writeDestructor() {
  if (sites.empty())
    return success();
  FailureOr<LLVM::LLVMFuncOp> release = declare("quern_mlir_release", {pointer}, i32);
  if (failed(release))
    return failure();
  Location loc = module.getLoc();
  MLIRContext *context = module.getContext();
  std::string name = "quern_release";
  for (int i = 0; module.lookupSymbol(name); ++i)
    name = "quern_release_" + std::to_string(i);
  builder.setInsertionPointToEnd(module.getBody());
  auto voidType = LLVM::LLVMVoidType::get(context);
  auto destructor =
      LLVM::LLVMFuncOp::create(builder, loc, name, LLVM::LLVMFunctionType::get(voidType, {}), LLVM::Linkage::Internal);
  OpBuilder at(context);
  at.setInsertionPointToEnd(destructor.addEntryBlock(at));
  for (StringRef site : sites)
    LLVM::CallOp::create(at, loc, *release, address(at, loc, site));
  LLVM::ReturnOp::create(at, loc, ValueRange{});
  LLVM::GlobalDtorsOp::create(builder, loc, builder.getArrayAttr(FlatSymbolRefAttr::get(context, name)),
                              builder.getI32ArrayAttr(0), builder.getArrayAttr(LLVM::ZeroAttr::get(context)));
  return success();
}

class ToLlvmPass : public PassWrapper<ToLlvmPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ToLlvmPass)
  ToLlvmPass() = default;
  ToLlvmPass(const ToLlvmPass &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "quern-to-llvm"; }
  StringRef getDescription() const final { return "Turn outlined functions on memrefs into calls of libquern"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<func::FuncDialect, LLVM::LLVMDialect, memref::MemRefDialect>();
  }
  void runOnOperation() final;

private:
  LogicalResult convert(func::FuncOp function, RuntimeCalls &calls);
  FailureOr<Ahead> compile(func::FuncOp function);

  Option<std::string> onFailure{*this, "on-failure",
                                llvm::cl::desc("Function void NAME(int status, const char *message) to call if a call "
                                               "fails (default: print the message and abort)")};
  Option<bool> ahead{*this, "ahead",
                     llvm::cl::desc("Compile the kernels for `target` now and embed them (default: false)"),
                     llvm::cl::init(false)};
  Option<std::string> objects{
      *this, "objects",
      llvm::cl::desc("Compile now into a static archive of this name, with which the program is "
                     "linked")};
  Option<std::string> target{
      *this, "target", llvm::cl::desc("Target of compiled kernels, which must support the functions (default: native)"),
      llvm::cl::init("native")};
  std::vector<std::pair<std::string, std::string>> members; ///< name and bytes of each object file in the archive
};

/// Checks that the arguments are numbers, or memrefs in the default memory space, and that the function has one block
/// and returns only its arguments. Bufferization makes the results the memory to which they were written.
LogicalResult returnArguments(func::FuncOp function) {
  for (Type type : function.getArgumentTypes())
    if (auto memref = dyn_cast<MemRefType>(type); memref ? bool(memref.getMemorySpace()) : !type.isIntOrIndexOrFloat())
      return function.emitError("quern-to-llvm: an argument is ")
             << type
             << "; it must be a number or a memref in the default memory space, so bufferization must run before";
  if (!function.getBody().hasOneBlock())
    return function.emitError("quern-to-llvm: there is more than one block");
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  for (Value value : end.getOperands())
    if (!isa<BlockArgument>(value))
      return function.emitError("quern-to-llvm: a result is not the memory of an argument");
  return success();
}

/// Returns a copy of the function without results, as Quern reads it: results are in its arguments.
func::FuncOp cloneWithoutResults(func::FuncOp function) {
  auto copy = cast<func::FuncOp>(function->clone());
  Operation *end = copy.getBody().front().getTerminator();
  end->eraseOperands(0, end->getNumOperands());
  Builder builder(function.getContext());
  copy.setFunctionType(builder.getFunctionType(copy.getArgumentTypes(), {}));
  copy.removeResAttrsAttr();
  return copy;
}

FailureOr<Ahead> ToLlvmPass::compile(func::FuncOp function) {
  FailureOr<compiler::CompiledFunction> compiled =
      compiler::compileAhead(function, target, function->hasAttr(allowNaiveAttr));
  if (failed(compiled))
    return failure();
  if (objects.empty())
    return Ahead{std::move(compiled->line), std::move(compiled->artifact), {}};
  const std::string prefix = (function.getName() + "_").str();
  FailureOr<compiler::LinkableFunction> linkable = compiler::makeLinkable(function, *compiled, prefix);
  if (failed(linkable))
    return failure();
  members.emplace_back(function.getName().str() + ".o", std::move(linkable->object));
  return Ahead{std::move(compiled->line), std::move(linkable->artifact), std::move(linkable->entries)};
}

LogicalResult ToLlvmPass::convert(func::FuncOp function, RuntimeCalls &calls) {
  if (failed(returnArguments(function)))
    return failure();
  func::FuncOp clone = cloneWithoutResults(function);
  const bool allowNaive = function->hasAttr(allowNaiveAttr);
  const std::string bytecode = compiler::bytecodeOf(clone);
  FailureOr<Ahead> compiled = Ahead();
  std::string why;
  const bool isAhead = ahead || !objects.empty();
  if (isAhead)
    compiled = compile(clone);
  else // fails now instead of when the program runs
    why = compiler::whyNoKernel(clone, target, allowNaive);
  clone.erase();
  if (!why.empty())
    return function.emitError("quern-to-llvm: the function is not supported as it is on memrefs: ") << why;
  if (failed(compiled))
    return failure();
  return calls.writeBody(function, bytecode, isAhead ? &*compiled : nullptr);
}

void ToLlvmPass::runOnOperation() {
  RuntimeCalls calls(getOperation(), onFailure);
  members.clear();
  for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
    if (function->hasAttr(outlinedAttr) && failed(convert(function, calls)))
      return signalPassFailure();
  if (failed(calls.writeDestructor()))
    return signalPassFailure();
  if (objects.empty())
    return;
  if (std::string why = compiler::writeArchive(objects, members); !why.empty()) {
    getOperation().emitError("quern-to-llvm: ") << objects << ": " << why;
    signalPassFailure();
  }
}

} // namespace

std::unique_ptr<Pass> plugin::createToLlvmPass() { return std::make_unique<ToLlvmPass>(); }
