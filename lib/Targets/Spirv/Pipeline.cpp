//===- Pipeline.cpp - Lowering of device kernels to LLVM ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Schedules create memrefs without address spaces: a kernel's buffers are global, tables of constants constant, and
// allocations private. Group memory already has an address space. The kernel's signature is changed on memrefs, before
// the conversion.
//
//===----------------------------------------------------------------------===//
#include "Targets/Spirv/Pipeline.h"

#include "mlir/Conversion/GPUToLLVMSPV/GPUToLLVMSPVPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace quern {
namespace {

/// Changes the arguments of a kernel to those of a device: tensors, shared scratch, each size separately.
class DeviceArguments {
public:
  DeviceArguments(func::FuncOp function, bool hasShared, int64_t sizeCount)
      : function(function), hasShared(hasShared), sizeCount(sizeCount) {}

  LogicalResult rewrite(const Target &target) {
    auto kernel = attrOf<KernelAttr>(function);
    if (!kernel || !kernel.getGroupSize())
      return fail("is not a kernel of a device: it has no quern.kernel with a group size");
    const int64_t group = kernel.getGroupSize(), subGroup = kernel.getSubGroupSize();
    if (group > target.device.maxGroupSize)
      return fail("runs in groups of " + Twine(group) + "; the device has up to " + Twine(target.device.maxGroupSize));
    if (subGroup && (!target.device.hasSubGroups(subGroup) || group % subGroup))
      return fail("runs in groups of " + Twine(group) + " by sub-groups of " + Twine(subGroup) +
                  ", which the device does not have or which do not fill the groups");
    if (failed(readArguments()))
      return failure();
    if (hasShared && shared < 0)
      (void)function.insertArgument(tensors,
                                    MemRefType::get({ShapedType::kDynamic}, IntegerType::get(function.getContext(), 8)),
                                    {}, function.getLoc());
    return passSizesByValue();
  }

private:
  LogicalResult fail(const Twine &why) { return function.emitError("lower: @") << function.getName() << ' ' << why; }

  /// Reads the arguments, and records on the kernel the types that its lowered form no longer has.
  LogicalResult readArguments() {
    SmallVector<ArgumentAttr> described;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      bool isShared = function.getArgAttr(i, attr::shared) != nullptr,
           isSizes = function.getArgAttr(i, attr::sizes) != nullptr;
      bool isInOrder = isSizes ? sizes < 0 : shared < 0 && sizes < 0;
      if (!isa<MemRefType>(function.getArgument(i).getType()) || !isInOrder)
        return fail("has arguments other than tensors, then one each of shared and sizes");
      (isSizes ? sizes : isShared ? shared : unused) = static_cast<int>(i);
      if (!isSizes && !isShared)
        described.push_back(describeArgument(function, i));
    }
    tensors = described.size();
    function->setAttr(LoweredAttr::name, LoweredAttr::get(function.getContext(), described, /*group_bytes=*/0));
    return success();
  }

  LogicalResult passSizesByValue() {
    Block &entry = function.getBody().front();
    if (sizes >= 0 && hasShared && shared < 0)
      ++sizes;
    const unsigned first = function.getNumArguments();
    for (int64_t i = 0; i < sizeCount; ++i)
      (void)function.insertArgument(first + i, IndexType::get(function.getContext()), {}, function.getLoc());
    if (sizes < 0)
      return success();
    for (Operation *user : llvm::make_early_inc_range(entry.getArgument(sizes).getUsers())) {
      auto load = dyn_cast<memref::LoadOp>(user);
      std::optional<int64_t> which = load ? getConstantIntValue(load.getIndices().front()) : std::nullopt;
      if (!which || *which < 0 || *which >= sizeCount)
        return fail("uses its sizes other than by loading one of " + Twine(sizeCount) + " with a constant index");
      load.replaceAllUsesWith(Value(entry.getArgument(first + static_cast<unsigned>(*which))));
      load.erase();
    }
    (void)function.eraseArgument(sizes);
    return success();
  }

  func::FuncOp function;
  bool hasShared;
  int64_t sizeCount;
  int shared = -1, sizes = -1, unused = -1;
  unsigned tensors = 0;
};

/// Returns the number of sizes of the kernels: the module's attribute, or the largest index that they load, plus one.
int64_t sizeCountOf(ModuleOp module) {
  if (auto declared = module->getAttrOfType<IntegerAttr>(attr::sizeCount))
    return declared.getInt();
  int64_t count = 0;
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, attr::sizes))
        for (Operation *user : function.getArgument(i).getUsers())
          if (auto load = dyn_cast<memref::LoadOp>(user))
            count = std::max(count, getConstantIntValue(load.getIndices().front()).value_or(-1) + 1);
  return count;
}

Value inSpace(Value memref, DeviceSpace space) {
  if (auto type = dyn_cast<MemRefType>(memref.getType()); type && !type.getMemorySpace())
    memref.setType(MemRefType::Builder(type).setMemorySpace(
        IntegerAttr::get(IntegerType::get(memref.getContext(), 64), static_cast<int64_t>(space))));
  return memref;
}

/// Assigns address spaces to arguments and tables, and propagates them to derived memrefs.
void assignSpaces(ModuleOp module) {
  for (auto global : module.getOps<memref::GlobalOp>())
    if (MemRefType type = global.getType(); !type.getMemorySpace()) {
      auto constant =
          IntegerAttr::get(IntegerType::get(module.getContext(), 64), static_cast<int64_t>(DeviceSpace::Constant));
      global.setType(MemRefType(MemRefType::Builder(type).setMemorySpace(constant)));
    }
  for (auto function : module.getOps<func::FuncOp>()) {
    for (BlockArgument argument : function.getArguments())
      inSpace(argument, DeviceSpace::Global);
    function.walk<WalkOrder::PreOrder>([](Operation *op) {
      if (isa<memref::GetGlobalOp>(op))
        inSpace(op->getResult(0), DeviceSpace::Constant);
      for (Value result : op->getResults())
        for (Value operand : op->getOperands())
          if (auto of = dyn_cast<MemRefType>(operand.getType());
              of && isa<MemRefType>(result.getType()) && of.getMemorySpace())
            result.setType(MemRefType(
                MemRefType::Builder(cast<MemRefType>(result.getType())).setMemorySpace(of.getMemorySpace())));
    });
  }
}

/// Returns the bytes of group memory that a lowered kernel uses.
int64_t groupBytesOf(LLVM::LLVMFuncOp function, ModuleOp module) {
  llvm::SmallSetVector<Operation *, 4> globals;
  function.walk([&](LLVM::AddressOfOp address) {
    if (auto global = module.lookupSymbol<LLVM::GlobalOp>(address.getGlobalName());
        global && global.getAddrSpace() == static_cast<unsigned>(DeviceSpace::Group))
      globals.insert(global);
  });
  int64_t bytes = 0;
  DataLayout layout(module);
  for (Operation *global : globals) {
    auto globalBytes = static_cast<int64_t>(layout.getTypeSize(cast<LLVM::GlobalOp>(global).getType()));
    bytes = static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(bytes), 16)) + globalBytes;
  }
  return bytes;
}

LogicalResult finishKernel(ModuleOp module, LLVM::LLVMFuncOp function, KernelAttr kernel, const Target &target) {
  Builder builder(module.getContext());
  forwardDescriptorFields(function);
  eraseUnusedSums(function);
  function.setCConv(LLVM::cconv::CConv::SPIR_KERNEL);
  function.setReqdWorkGroupSizeAttr(builder.getDenseI32ArrayAttr({static_cast<int32_t>(kernel.getGroupSize()), 1, 1}));
  if (int64_t size = kernel.getSubGroupSize())
    function.setIntelReqdSubGroupSizeAttr(builder.getI32IntegerAttr(static_cast<int32_t>(size)));
  int64_t bytes = groupBytesOf(function, module);
  if (bytes > target.device.groupMemoryBytes)
    return function.emitError("lower: @")
           << function.getName() << " has " << bytes << " bytes of group memory; the device has "
           << target.device.groupMemoryBytes;
  function->setAttr(LoweredAttr::name,
                    LoweredAttr::get(module.getContext(), attrOf<LoweredAttr>(function).getArguments(), bytes));
  return success();
}

} // namespace

SpirvLowering::SpirvLowering(MLIRContext &context)
    : conversion(context, [](LLVMTypeConverter &types, RewritePatternSet &set) {
        populateGpuMemorySpaceAttributeConversions(types);
        populateGpuToLLVMSPVConversionPatterns(types, set);
      }) {}

LogicalResult SpirvLowering::run(ModuleOp module, const Target &target, bool verifyIr) {
  if (verifyIr && failed(verify(module)))
    return failure();
  const int64_t sizeCount = sizeCountOf(module);
  bool hasShared = false;
  for (auto function : module.getOps<func::FuncOp>())
    if (auto kernel = attrOf<KernelAttr>(function))
      hasShared |= kernel.getSharedBytes() > 0;
  if (module.getOps<func::FuncOp>().empty())
    return module.emitError("lower: the module has no kernel");
  // Types are those of the scheduled kernel, before bf16 becomes i16.
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(DeviceArguments(function, hasShared, sizeCount).rewrite(target)))
      return failure();
  if (failed(expandForDevice(module, target)))
    return failure();
  assignSpaces(module);
  for (auto function : module.getOps<func::FuncOp>()) {
    prepareForBarePointers(function);
    auto kernel = attrOf<KernelAttr>(function);
    // Shuffles can be lowered only for a known sub-group size.
    if (int64_t size = kernel ? kernel.getSubGroupSize() : 0)
      function->setAttr("intel_reqd_sub_group_size", IntegerAttr::get(IntegerType::get(module.getContext(), 32), size));
  }
  if (verifyIr && failed(verify(module)))
    return failure();
  if (failed(conversion.run(module)))
    return failure();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (auto kernel = attrOf<KernelAttr>(function); kernel && failed(finishKernel(module, function, kernel, target)))
      return failure();
  return verifyIr ? verify(module) : success();
}

} // namespace quern
