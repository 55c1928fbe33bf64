//===- QuernDialect.cpp - The attributes that stages exchange -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "IR/QuernDialect.h"

#include "IR/Launch.h"
#include "IR/Naive.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace quern;

/// Parses an expression of loop indices and sizes. Launch.cpp checks which of them a given place may depend on.
static FailureOr<AffineExpr> parseExpr(AsmParser &parser) {
  constexpr unsigned maxSizes = 256;
  static const auto *names = [] {
    auto *list = new std::vector<std::string>;
    for (unsigned i = 0; i < maxLoopDepth; ++i)
      list->push_back("d" + std::to_string(i));
    for (unsigned i = 0; i < maxSizes; ++i)
      list->push_back("s" + std::to_string(i));
    return list;
  }();
  SmallVector<std::pair<StringRef, AffineExpr>, 0> known;
  for (unsigned i = 0; i < names->size(); ++i)
    known.emplace_back((*names)[i], i < maxLoopDepth ? getAffineDimExpr(i, parser.getContext())
                                                     : getAffineSymbolExpr(i - maxLoopDepth, parser.getContext()));
  AffineExpr expr;
  if (parser.parseAffineExpr(known, expr))
    return failure();
  return expr;
}

static ParseResult parseIndependent(AsmParser &parser, bool &independent) {
  independent = succeeded(parser.parseOptionalKeyword("independent"));
  return success();
}
static void printIndependent(AsmPrinter &printer, bool independent) { printer << (independent ? " independent" : ""); }

static ParseResult parseSteps(AsmParser &parser, SmallVector<Attribute> &steps) {
  StringRef kind;
  while (
      succeeded(parser.parseOptionalKeyword(&kind, {"call", "loop", "region", "maximum", "number", "size", "check"}))) {
    auto parse = kind == "call"     ? CallAttr::parse
                 : kind == "loop"   ? LoopAttr::parse
                 : kind == "region" ? RegionAttr::parse
                 : kind == "number" ? NumberAttr::parse
                 : kind == "size"   ? SizeAttr::parse
                 : kind == "check"  ? CheckAttr::parse
                                    : MaximumAttr::parse;
    steps.push_back(parse(parser, Type()));
    if (!steps.back())
      return failure();
  }
  return success();
}

static void printSteps(AsmPrinter &printer, ArrayRef<Attribute> steps) {
  printer.increaseIndent();
  for (Attribute step : steps) {
    printer.printNewline();
    llvm::TypeSwitch<Attribute>(step)
        .Case<CallAttr, LoopAttr, RegionAttr, MaximumAttr, NumberAttr, SizeAttr, CheckAttr>([&](auto known) {
          printer << known.getMnemonic() << ' ';
          known.print(printer);
        });
  }
  printer.decreaseIndent();
  printer.printNewline();
}

static ParseResult parsePlanFields(AsmParser &parser, SmallVector<NamedAttribute> &fields) {
  Builder builder(parser.getContext());
  while (succeeded(parser.parseOptionalComma())) {
    std::string name, text;
    int64_t number = 0;
    if (parser.parseKeywordOrString(&name))
      return failure();
    Attribute value = builder.getUnitAttr();
    if (succeeded(parser.parseOptionalEqual())) {
      OptionalParseResult isNumber = parser.parseOptionalInteger(number);
      if (isNumber.has_value() ? failed(*isNumber) : failed(parser.parseString(&text)))
        return failure();
      value = isNumber.has_value() ? Attribute(builder.getI64IntegerAttr(number)) : builder.getStringAttr(text);
    }
    fields.emplace_back(builder.getStringAttr(name), value);
  }
  return success();
}

static void printPlanFields(AsmPrinter &printer, ArrayRef<NamedAttribute> fields) {
  for (NamedAttribute field : fields) {
    printer << ", ";
    printer.printKeywordOrString(field.getName());
    if (!isa<UnitAttr>(field.getValue())) {
      printer << " = ";
      printer.printAttributeWithoutType(field.getValue());
    }
  }
}

#include "IR/QuernDialect.cpp.inc"
#include "IR/QuernEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "IR/QuernAttributes.cpp.inc"

void QuernDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "IR/QuernAttributes.cpp.inc"
      >();
}

// TableGen declares the parameters under the names that the assembly format prints.
// NOLINTBEGIN(readability-identifier-naming)
LogicalResult KernelAttr::verify(function_ref<InFlightDiagnostic()> emitError, DenseI64ArrayAttr factors,
                                 int64_t group_size, int64_t ns_per_iteration, PlanAttr, StringRef,
                                 int64_t scratch_bytes, int64_t shared_bytes, int64_t space, int64_t sub_group_size) {
  // NOLINTEND(readability-identifier-naming)
  for (int64_t number : {group_size, ns_per_iteration, scratch_bytes, shared_bytes, space, sub_group_size})
    if (number < 0)
      return emitError() << "a kernel's numbers must not be negative; one is " << number;
  ArrayRef<int64_t> pairs = factors ? factors.asArrayRef() : ArrayRef<int64_t>();
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (i + 1 == pairs.size() || pairs[i] < 0 || pairs[i + 1] < 1)
      return emitError() << "factors must be pairs of a size's index and a positive divisor";
  return success();
}

KernelAttr KernelAttr::withProblem(StringRef problem) const {
  return get(getContext(), getFactors(), getGroupSize(), getNsPerIteration(), getPlan(), problem, getScratchBytes(),
             getSharedBytes(), getSpace(), getSubGroupSize());
}

KernelAttr KernelAttr::withSharedBytes(int64_t bytes) const {
  return get(getContext(), getFactors(), getGroupSize(), getNsPerIteration(), getPlan(), getProblem(),
             getScratchBytes(), bytes, getSpace(), getSubGroupSize());
}

KernelAttr KernelAttr::withScratchBytes(int64_t bytes) const {
  return get(getContext(), getFactors(), getGroupSize(), getNsPerIteration(), getPlan(), getProblem(), bytes,
             getSharedBytes(), getSpace(), getSubGroupSize());
}

/// Returns the relaxations that an op of this kind may have.
static Relaxation relaxationsFor(Operation *op) {
  if (isa<math::ExpOp>(op))
    return Relaxation::Nonpositive | Relaxation::Unrounded;
  return isa<math::ExpM1Op>(op) ? Relaxation::Nonpositive : isa<linalg::LinalgOp>(op) ? Relaxation::Bf16 : Relaxation();
}

LogicalResult QuernDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto require = [&](bool holds, const Twine &what) -> LogicalResult {
    return holds ? success() : op->emitError() << name << " must be " << what;
  };
  if (name == KernelAttr::name)
    return require(isa<KernelAttr>(value) && isa<FunctionOpInterface>(op), "#quern.kernel<…> on a function");
  if (name == LoweredAttr::name)
    return require(isa<LoweredAttr>(value) && isa<FunctionOpInterface>(op), "#quern.lowered<…> on a function");
  if (name == attr::sizeIndices)
    return require(isa<DenseI64ArrayAttr>(value) && isa<FunctionOpInterface>(op), "an array of i64 on a function");
  if (name == attr::naive)
    return require(isa<BoolAttr>(value) && isa<FunctionOpInterface>(op), "true or false on a function");
  if (name == attr::sizeCount)
    return require(isa<IntegerAttr>(value) && isa<ModuleOp>(op), "a number on a module");
  if (name == ProgramAttr::name) {
    auto module = dyn_cast<ModuleOp>(op);
    return module && isa<ProgramAttr>(value) ? success(succeeded(launchOf(module)))
                                             : require(false, "#quern.program<…> on a module");
  }
  if (name != RelaxationAttr::name)
    return op->emitError() << name << " is not an attribute of an operation";
  auto relaxation = dyn_cast<RelaxationAttr>(value);
  return require(relaxation && bitEnumContainsAll(relaxationsFor(op), relaxation.getValue()),
                 "#quern.relax<…> of relaxations that " + op->getName().getStringRef() + " allows");
}

LogicalResult QuernDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argIndex,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto refuse = [&](const Twine &why) { return op->emitError() << name << " of argument #" << argIndex << ' ' << why; };
  if (!function || !isa<MemRefType>(function.getArgumentTypes()[argIndex]))
    return refuse("is not on a memref");
  auto kernel = attrOf<KernelAttr>(op);
  if (name == attr::arg)
    return isa<StringAttr>(value) ? success() : refuse("must be a string");
  if (auto offset = dyn_cast<IntegerAttr>(value); offset && name == attr::shared)
    return offset.getInt() >= 0 && offset.getInt() % 64 == 0 ? success() : refuse("must be a multiple of 64");
  if (name != attr::scratch && name != attr::shared && name != attr::sizes)
    return refuse("is not an attribute of an argument");
  if (!isa<UnitAttr>(value) || !kernel)
    return refuse(kernel ? "must have no value" : "is only for kernels");
  bool hasBytes = name == attr::scratch  ? kernel.getScratchBytes()
                  : name == attr::shared ? kernel.getSharedBytes()
                                         : true;
  return hasBytes ? success() : refuse("is memory, but the kernel does not specify its bytes");
}
