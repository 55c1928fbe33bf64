//===- Check.cpp - Checks of types and operations -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One walk before all other steps, so that these encounter only supported types and operations, and one on their
// result.
//
//===----------------------------------------------------------------------===//
#include "Functions/Check.h"

#include "Functions/Functions.h"
#include "Functions/Locations.h"
#include "Functions/OpenSizes.h"
#include "IR/Strides.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// Larger functions are refused, because the time of partitioning grows with the square of the number of operations.
constexpr size_t maxOperations = 512, maxArguments = 256;

std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

DataType dataTypeOf(Type element) {
  if (element.isF32())
    return DataType::F32;
  if (element.isF64())
    return DataType::F64;
  if (element.isF16())
    return DataType::F16;
  if (element.isBF16())
    return DataType::BF16;
  if (element.isSignlessInteger(8))
    return DataType::S8;
  if (element.isSignlessInteger(4))
    return DataType::S4;
  return element.isSignlessInteger(32) ? DataType::S32 : DataType::Undef;
}

/// Returns the reason why a value's type is not supported, or an empty string.
std::string whyNotTaken(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return type.isIntOrIndexOrFloat() ? "" : "is neither a number, a tensor nor a memref";
  if (!isa<RankedTensorType, MemRefType>(type))
    return "is not a ranked tensor or memref";
  if (shaped.getRank() > maxDims)
    return concat("has ", shaped.getRank(), " dims; at most ", int(maxDims), " are possible");
  if (dataTypeOf(shaped.getElementType()) == DataType::Undef)
    return "has elements other than f32, f64, f16, bf16, i32, i8 and i4";
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getEncoding() ? "has an encoding" : "";
  auto memref = cast<MemRefType>(type);
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(stridesOf(memref, strides, offset)))
    return "is not a strided memref";
  auto isNegative = [](int64_t number) { return number < 0 && !ShapedType::isDynamic(number); };
  if (isNegative(offset) || llvm::any_of(strides, isNegative))
    return "has a negative stride or offset";
  return memref.getMemorySpace() ? "is in a memory space" : "";
}

/// Returns true for operations that targets have instructions or expansions for (Transforms/Math), and for those that
/// reading replaces by such operations (Canonicalize/Scalars.cpp).
bool isComputed(Operation &op) {
  if (isa<arith::RemFOp, arith::MulSIExtendedOp, arith::MulUIExtendedOp, arith::AddUIExtendedOp, arith::ScalingExtFOp,
          arith::ScalingTruncFOp>(op))
    return false;
  return !isa<math::MathDialect>(op.getDialect()) ||
         isa<math::AbsFOp, math::AbsIOp, math::AcoshOp, math::AsinhOp, math::AtanhOp, math::CbrtOp, math::CeilOp,
             math::ClampFOp, math::CopySignOp, math::CoshOp, math::ErfOp, math::ErfcOp, math::Exp2Op, math::ExpM1Op,
             math::ExpOp, math::FloorOp, math::FmaOp, math::IsFiniteOp, math::IsInfOp, math::IsNaNOp, math::Log10Op,
             math::Log1pOp, math::Log2Op, math::LogOp, math::PowFOp, math::RoundEvenOp, math::RoundOp, math::RsqrtOp,
             math::SinhOp, math::SqrtOp, math::TanhOp, math::TruncOp>(op);
}

/// Returns true for scalar code whose operands and results are all numbers.
bool isScalarCode(Operation &op) {
  auto isNumber = [](Type type) { return type.isIntOrIndexOrFloat(); };
  return isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) && !op.getNumRegions() &&
         llvm::all_of(op.getOperandTypes(), isNumber) && llvm::all_of(op.getResultTypes(), isNumber);
}

/// Returns true if targets compute an operation with numbers of a type. Floats of 8 and 4 bits can only be converted.
bool isComputedWith(Operation &op, Type type) {
  if (type.isIndex() || type.isF32() || type.isF64() || type.isF16() || type.isBF16())
    return true;
  if (isa<Float8E5M2Type, Float8E4M3FNType, Float8E8M0FNUType, Float4E2M1FNType>(type))
    return isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(op);
  return type.isSignlessInteger() && llvm::is_contained({1u, 4u, 8u, 16u, 32u, 64u}, type.getIntOrFloatBitWidth());
}

/// Checks that scalar code has operations and types that targets compute.
Result<void> checkScalarCode(Operation &op) {
  if (!isComputed(op))
    return unsupported(&op, "is not supported: no target computes it");
  SmallVector<Type> types(op.getOperandTypes());
  llvm::append_range(types, op.getResultTypes());
  for (Type type : types)
    if (!isComputedWith(op, type))
      return unsupported(
          &op, "computes with ", textOf(type),
          "; f32, f64, f16, bf16, index and signless integers of 1, 4, 8, 16, 32 and 64 bits are supported");
  return {};
}

Result<void> checkBody(linalg::LinalgOp op) {
  for (Operation &inner : op.getBlock()->getOperations()) {
    const bool isArithmetic = isa<arith::ArithDialect, math::MathDialect>(inner.getDialect());
    if ((!isArithmetic && !isa<linalg::YieldOp, linalg::IndexOp>(inner)) || inner.getNumRegions())
      return unsupported(&inner, "is not supported in the body of an operation; arith, math and linalg.index are");
    if (isArithmetic)
      QUERN_RETURN_IF_ERROR(checkScalarCode(inner));
  }
  return {};
}

/// Checks the outputs of an operation. Maps are checked only in the read form, after loops of one index have been
/// removed.
Result<void> checkWritten(linalg::LinalgOp op, Form form) {
  llvm::SmallDenseSet<Value> roots;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    if (form == Form::Read && !op.getMatchingIndexingMap(&init).isProjectedPermutation())
      return unsupported(op, "writes through a map that is not a permutation of its loops");
    if (!isa<MemRefType>(init.get().getType()))
      continue;
    if (!roots.insert(rootOf(init.get())).second)
      return unsupported(op, "writes one buffer twice");
  }
  return {};
}

Result<void> checkLinalg(linalg::LinalgOp op, Form form) {
  if (linalg::isaConvolutionOpInterface(op))
    return unsupported(op, "is not supported: a convolution or a pooling");
  if (!op.hasPureTensorSemantics() && !op.hasPureBufferSemantics())
    return unsupported(op, "mixes tensors and memrefs");
  if (op.getNumDpsInits() == 0)
    return unsupported(op, "writes nothing");
  QUERN_RETURN_IF_ERROR(checkBody(op));
  return checkWritten(op, form);
}

Result<void> checkConstant(arith::ConstantOp op) {
  if (!isa<ShapedType>(op.getType()))
    return checkScalarCode(*op);
  if (isa<DenseElementsAttr>(op.getValue()))
    return {};
  return unsupported(op, "is a table whose values are not in the module");
}

/// Checks that padding is on tensors of known sizes and uses one constant, which is defined before its region or is the
/// only value in it.
Result<void> checkPad(tensor::PadOp op) {
  if (!op.getConstantPaddingValue())
    return unsupported(op, "is only supported with one constant");
  if (!op.getType().hasStaticShape() || !op.getSourceType().hasStaticShape())
    return unsupported(op, "is only supported with known sizes");
  return {};
}

/// Checks that a packing, concatenation or reshape is on tensors of known sizes and has one result.
Result<void> checkPacking(Operation &op) {
  auto isKnown = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.hasStaticShape();
  };
  if (!llvm::all_of(op.getOperandTypes(), isKnown) || !llvm::all_of(op.getResultTypes(), isKnown) ||
      op.getNumResults() != 1)
    return unsupported(&op, "is only supported on tensors of known sizes");
  return {};
}

/// Checks that the index of a dim operation is a constant and a dim of its operand, because upstream's passes abort
/// otherwise.
Result<void> checkDim(Operation &op) {
  IntegerAttr index;
  auto source = cast<ShapedType>(op.getOperand(0).getType());
  const int64_t rank = source.hasRank() ? source.getRank() : 0;
  if (!matchPattern(op.getOperand(1), m_Constant(&index)))
    return unsupported(&op, "queries a dim that is not a constant");
  const APInt &dim = index.getValue();
  return dim.isNegative() || dim.sge(rank) ? unsupported(&op, "queries a dim that does not exist") : Result<void>();
}

/// Checks operations of the memref dialect.
Result<void> checkMemory(Operation &op, Form form) {
  if (isa<memref::DimOp>(op))
    QUERN_RETURN_IF_ERROR(checkDim(op));
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    return alloc.getType().getLayout().isIdentity() ? Result<void>() : unsupported(&op, "is not dense");
  }
  if (auto dim = dyn_cast<memref::DimOp>(op); dim && form == Form::Read) {
    if (!dim.getConstantIndex() || !isSizeOrPlaceAlone(dim))
      return unsupported(&op, "may only be used to compute sizes and offsets of memory");
  }
  if (auto load = dyn_cast<memref::LoadOp>(op); load && form == Form::Read)
    return isa<BlockArgument>(load.getMemRef()) && load.getMemRefType().getRank() == 0
               ? Result<void>()
               : unsupported(&op, "is only supported on an argument of rank 0");
  if (isa<memref::GetGlobalOp>(op) && form == Form::Read)
    return {};
  if (isa<memref::DeallocOp, memref::CopyOp, memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
          memref::CastOp, memref::DimOp>(op))
    return {};
  return unsupported(&op, "is not supported", isMemoryEffectFree(&op) ? "" : ": a side effect");
}

const char *whyNotOf(Operation &op) {
  StringRef dialect = op.getName().getDialectNamespace();
  return dialect == "scf" || dialect == "cf" || dialect == "affine" ? ": control flow"
         : isa<CallOpInterface>(op)                                 ? ": a call"
         : op.getNumRegions()                                       ? ": it has regions"
         : !isMemoryEffectFree(&op)                                 ? ": a side effect"
                                                                    : "";
}

/// Checks operations other than structured linalg ones.
Result<void> checkOther(Operation &op, Form form) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return checkConstant(constant);
  if (isa<memref::MemRefDialect>(op.getDialect()))
    return checkMemory(op, form);
  if (isa<func::ReturnOp>(op))
    return {};
  if (isScalarCode(op))
    return checkScalarCode(op);
  if (form == Form::Given) {
    if (isa<tensor::DimOp>(op))
      return checkDim(op);
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      return checkPad(pad);
    if (isa<linalg::PackOp, linalg::UnPackOp, tensor::ConcatOp, tensor::ReshapeOp>(op))
      return checkPacking(op);
    if (isa<linalg::SoftmaxOp, tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp,
            tensor::InsertSliceOp, tensor::CastOp, tensor::DimOp>(op))
      return {};
  }
  return unsupported(&op, "is not supported", whyNotOf(op));
}

Result<void> checkTypes(func::FuncOp function, TypeRange types, const char *what) {
  for (auto [i, type] : llvm::enumerate(types)) {
    std::string why = whyNotTaken(type);
    const bool isIndex = type.isIndex(), isNumber = type.isIntOrIndexOrFloat();
    if (why.empty() && isNumber && !isIndex &&
        (dataTypeOf(type) == DataType::Undef || dataTypeOf(type) == DataType::S4))
      why = "is a number of a type other than f32, f64, f16, bf16, i32, i8 and index";
    if (!why.empty())
      return unsupported(function, what, " ", i, " is ", textOf(type), ", which ", why);
  }
  return {};
}

} // namespace

LogicalResult functions::stridesOf(MemRefType type, SmallVectorImpl<int64_t> &strides, int64_t &offset) {
  if (type.hasStaticShape() && llvm::is_contained(type.getShape(), 0) && type.getLayout().isIdentity()) {
    const auto dims = llvm::map_to_vector(type.getShape(), [](int64_t dim) { return std::max<int64_t>(dim, 1); });
    type = MemRefType::get(dims, type.getElementType());
  }
  std::optional<Strides> layout = readStrides(type);
  if (!layout)
    return failure();
  strides.assign(layout->strides);
  offset = layout->offset;
  return success();
}

Value functions::rootOf(Value memref) {
  while (isa_and_nonnull<memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(
      memref.getDefiningOp()))
    memref = memref.getDefiningOp()->getOperand(0);
  return memref;
}

Result<TensorDesc> functions::describe(Type type, const std::string &what) {
  auto shaped = cast<ShapedType>(type);
  SmallVector<int64_t> strides, dims(shaped.getShape());
  int64_t offset = 0;
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    memref = MemRefType::get(shaped.getShape(), shaped.getElementType());
  if (failed(stridesOf(memref, strides, offset)))
    return internalError(what, " has no strides");
  if (dims.empty()) { // a number in memory
    dims.push_back(1);
    strides.push_back(1);
  }
  Result<TensorDesc> desc = TensorDesc::fromStrides(dims, dataTypeOf(shaped.getElementType()), strides);
  if (!desc)
    return Error{desc.error().status, concat(what, ": ", desc.error().message)};
  desc->offset0 = offset;
  return desc;
}

/// Limits constant indices and the known offsets, sizes and strides of views, so that the products that an execution
/// checks fit 64 bits.
static Result<void> checkPlaces(Operation &op) {
  constexpr int64_t most = int64_t(1) << 40;
  SmallVector<int64_t> numbers;
  if (auto part = dyn_cast<OffsetSizeAndStrideOpInterface>(op))
    for (ArrayRef<int64_t> all : {part.getStaticOffsets(), part.getStaticSizes(), part.getStaticStrides()})
      llvm::append_range(numbers, all);
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    numbers.push_back(constant.value());
  for (int64_t number : numbers)
    if (!ShapedType::isDynamic(number) && (number > most || number < -most))
      return unsupported(&op, "has an offset, size or stride of ", number, "; its magnitude may be at most ", most);
  return {};
}

Result<void> functions::checkOperation(Operation &op, Form form) {
  QUERN_RETURN_IF_ERROR(checkPlaces(op));
  for (Type type : op.getResultTypes())
    if (std::string why = whyNotTaken(type); !why.empty())
      return unsupported(&op, "has a result of type ", textOf(type), ", which ", why);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return checkLinalg(linalgOp, form);
  return checkOther(op, form);
}

Result<void> functions::check(func::FuncOp function, Form form) {
  if (function.getNumArguments() + function.getNumResults() == 0 ||
      function.getNumArguments() + function.getNumResults() > maxArguments)
    return unsupported(function, "has ", function.getNumArguments(), " arguments and ", function.getNumResults(),
                       " results; 1 to ", maxArguments, " together are possible");
  QUERN_RETURN_IF_ERROR(checkTypes(function, function.getArgumentTypes(), "argument"));
  QUERN_RETURN_IF_ERROR(checkTypes(function, function.getResultTypes(), "result"));
  if (llvm::any_of(function.getResultTypes(), [](Type type) { return !isa<RankedTensorType>(type); }))
    return unsupported(
        function, "returns a memref or a number; tensors are returned, and memrefs that are arguments are written");
  if (!function.getBody().hasOneBlock())
    return unsupported(function, "has more than one block: control flow");
  Block &body = function.getBody().front();
  if (body.getOperations().size() > maxOperations)
    return unsupported(function, "has ", body.getOperations().size(), " operations; at most ", maxOperations,
                       " are possible");
  for (Operation &op : body)
    QUERN_RETURN_IF_ERROR(checkOperation(op, form));
  return {};
}
