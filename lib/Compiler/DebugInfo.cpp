//===- DebugInfo.cpp - Kernels for debuggers and profilers ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compiler/DebugInfo.h"

#include "IR/QuernDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/ObjCopy/CommonConfig.h"
#include "llvm/ObjCopy/ELF/ELFConfig.h"
#include "llvm/ObjCopy/ELF/ELFObjcopy.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace quern {
namespace {

/// The types of a kernel's interface, as in quern/kernel_abi.h.
class AbiTypes {
public:
  explicit AbiTypes(MLIRContext *context) : context(context) {}

  LLVM::DITypeAttr number(StringRef name, unsigned bits, unsigned encoding) {
    return LLVM::DIBasicTypeAttr::get(context, llvm::dwarf::DW_TAG_base_type, name, bits, encoding);
  }
  LLVM::DITypeAttr int64() { return number("int64_t", 64, llvm::dwarf::DW_ATE_signed); }
  /// Returns a pointer to `type`; null: void.
  LLVM::DITypeAttr pointerTo(LLVM::DITypeAttr type) {
    return derived(llvm::dwarf::DW_TAG_pointer_type, "", type, 64, 0);
  }
  /// Returns const quern_kernel_args_t *.
  LLVM::DITypeAttr arguments() {
    const LLVM::DITypeAttr pointer = pointerTo(nullptr);
    const LLVM::DINodeAttr members[] = {member("buffers", pointerTo(pointer), 0), member("scratch", pointer, 64),
                                        member("shared", pointer, 128), member("sizes", pointerTo(int64()), 192)};
    return pointerTo(LLVM::DICompositeTypeAttr::get(
        context, llvm::dwarf::DW_TAG_structure_type, StringAttr::get(context, "quern_kernel_args_t"), nullptr, 0,
        nullptr, nullptr, LLVM::DIFlags::Zero, 256, 64, nullptr, nullptr, nullptr, nullptr, members));
  }
  /// Returns the type of a tensor's element. A type that C lacks is an integer with that type's name.
  LLVM::DITypeAttr element(Type type) {
    const unsigned bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 8;
    std::string name;
    llvm::raw_string_ostream(name) << type;
    const bool isNumberOfC = type.isF32() || type.isF64();
    return number(type.isF32()   ? "float"
                  : type.isF64() ? "double"
                                 : StringRef(name),
                  std::max(bits, 8u),
                  isNumberOfC                ? llvm::dwarf::DW_ATE_float
                  : type.isSignlessInteger() ? llvm::dwarf::DW_ATE_signed
                                             : llvm::dwarf::DW_ATE_unsigned);
  }

private:
  LLVM::DITypeAttr derived(unsigned tag, StringRef name, LLVM::DITypeAttr type, uint64_t bits, uint64_t offset) {
    return LLVM::DIDerivedTypeAttr::get(context, tag, name.empty() ? nullptr : StringAttr::get(context, name), type,
                                        bits, 0, offset, std::nullopt, nullptr);
  }
  LLVM::DITypeAttr member(StringRef name, LLVM::DITypeAttr type, uint64_t offset) {
    return derived(llvm::dwarf::DW_TAG_member, name, type, 64, offset);
  }

  MLIRContext *context;
};

/// Returns the position of the buffer whose pointer the operation loads; nullopt for other operations.
std::optional<int64_t> bufferLoadedBy(Operation &op, Value arguments) {
  auto load = dyn_cast<LLVM::LoadOp>(op);
  if (!load || !isa<LLVM::LLVMPointerType>(load.getType()))
    return std::nullopt;
  int64_t position = 0;
  Value table = load.getAddr();
  if (auto element = table.getDefiningOp<LLVM::GEPOp>()) {
    const ArrayRef<int32_t> indices = element.getRawConstantIndices();
    if (indices.size() != 1 || indices[0] < 0 || !isa<LLVM::LLVMPointerType>(element.getElemType()))
      return std::nullopt;
    position = indices[0];
    table = element.getBase();
  }
  auto tableLoad = table.getDefiningOp<LLVM::LoadOp>(); // buffers are the first member
  return tableLoad && tableLoad.getAddr() == arguments ? std::optional(position) : std::nullopt;
}

/// Debug information of one kernel: its subprogram, parameters and tensors.
class KernelInfo {
public:
  KernelInfo(LLVM::LLVMFuncOp function, LLVM::DICompileUnitAttr unit, LLVM::DIFileAttr file)
      : function(function), context(function.getContext()), types(context), file(file), unit(unit) {}

  void add() {
    auto place = function->getLoc()->findInstanceOf<FileLineColLoc>();
    line = place ? place.getLine() : 1;
    const LLVM::DITypeAttr parameters[] = {nullptr, types.arguments(), types.int64(), types.int64()};
    scope = LLVM::DISubprogramAttr::get(context, DistinctAttr::create(UnitAttr::get(context)), unit, file,
                                        function.getNameAttr(), function.getNameAttr(), file, line, line,
                                        LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized,
                                        LLVM::DISubroutineTypeAttr::get(context, parameters), {}, {});
    function->setLoc(FusedLoc::get(context, {function->getLoc()}, scope));
    Block &entry = function.getBody().front();
    addTensors(entry);
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    constexpr const char *names[] = {"args", "begin", "end"};
    for (unsigned i = 0; i < std::size(names) && i < entry.getNumArguments(); ++i)
      describe(builder, entry.getArgument(i), names[i], i + 1, parameters[i + 1]);
  }

private:
  void addTensors(Block &entry) {
    auto lowered = attrOf<LoweredAttr>(function);
    if (!lowered || entry.getNumArguments() == 0)
      return;
    for (Operation &op : llvm::make_early_inc_range(entry)) {
      const std::optional<int64_t> buffer = bufferLoadedBy(op, entry.getArgument(0));
      if (!buffer || *buffer >= static_cast<int64_t>(lowered.getArguments().size()))
        continue;
      const ArgumentAttr argument = lowered.getArguments()[static_cast<size_t>(*buffer)];
      OpBuilder builder(context);
      builder.setInsertionPointAfter(&op);
      describe(builder, op.getResult(0), argument.getName(), 0,
               types.pointerTo(types.element(argument.getType().getElementType())));
    }
  }

  void describe(OpBuilder &builder, Value value, StringRef name, unsigned number, LLVM::DITypeAttr type) {
    auto variable = LLVM::DILocalVariableAttr::get(scope, name, file, line, number, 0, type, LLVM::DIFlags::Zero);
    const Location place = FileLineColLoc::get(context, file.getName(), line, 1);
    LLVM::DbgValueOp::create(builder, place, value, variable, LLVM::DIExpressionAttr::get(context));
  }

  LLVM::LLVMFuncOp function;
  MLIRContext *context;
  AbiTypes types;
  LLVM::DIFileAttr file;
  LLVM::DICompileUnitAttr unit;
  LLVM::DISubprogramAttr scope;
  unsigned line = 1;
};

/// Appends a number to `table`, little-endian.
template <typename T> void append(std::string &table, T value) {
  for (size_t byte = 0; byte < sizeof(T); ++byte)
    table += static_cast<char>(static_cast<uint64_t>(value) >> (8 * byte));
}

/// Returns the rows of an object's line table in the format of .quern.lines.
std::string lineTableOf(const llvm::object::ObjectFile &object) {
  const std::unique_ptr<llvm::DWARFContext> debug = llvm::DWARFContext::create(object);
  std::map<uint64_t, uint32_t> lines; // the last row of an offset is valid
  for (const std::unique_ptr<llvm::DWARFUnit> &unit : debug->compile_units())
    if (const llvm::DWARFDebugLine::LineTable *table = debug->getLineTableForUnit(unit.get()))
      for (const llvm::DWARFDebugLine::Row &row : table->Rows)
        lines[row.Address.Address] = row.EndSequence ? 0 : row.Line;
  std::string bytes;
  for (const auto &[place, line] : lines) {
    append(bytes, place);
    append(bytes, line);
  }
  return bytes;
}

} // namespace

void addDebugInfo(ModuleOp module, const std::string &of, StringRef path) {
  keepOneLine(module, of);
  MLIRContext *context = module.getContext();
  auto file = LLVM::DIFileAttr::get(context, llvm::sys::path::filename(path), llvm::sys::path::parent_path(path));
  auto unit =
      LLVM::DICompileUnitAttr::get(DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_C11, file,
                                   StringAttr::get(context, "Quern"), /*isOptimized=*/true, LLVM::DIEmissionKind::Full);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal())
      KernelInfo(function, unit, file).add();
}

std::string locatedText(const TracedStage &stage, const TracedStage &of) {
  std::string text;
  SmallVector<StringRef> lines;
  StringRef(stage.text).rtrim('\n').split(lines, '\n');
  for (size_t number = 0; number < lines.size(); ++number) {
    text += lines[number];
    if (number < stage.origins.size() && !stage.origins[number].empty()) {
      std::string step, places;
      for (const int64_t origin : stage.origins[number]) {
        places += (places.empty() ? "" : ",") + std::to_string(origin);
        if (step.empty() && static_cast<size_t>(origin) <= of.steps.size())
          step = of.steps[static_cast<size_t>(origin - 1)];
      }
      text += "  // " + of.name + ":" + places + (step.empty() ? "" : " " + step);
    }
    text += '\n';
  }
  return text;
}

Result<std::string> addDebugSections(StringRef object, StringRef source) {
  const auto failed = [](llvm::Error error) {
    return internalError("codegen: debug information: ", llvm::toString(std::move(error)));
  };
  auto parsed = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!parsed)
    return failed(parsed.takeError());
  const std::string lines = lineTableOf(**parsed);
  llvm::objcopy::CommonConfig config;
  llvm::objcopy::ELFConfig elf;
  config.AddSection.emplace_back(".quern.source", llvm::MemoryBuffer::getMemBuffer(source, "", false));
  config.AddSection.emplace_back(".quern.lines", llvm::MemoryBuffer::getMemBuffer(lines, "", false));
  std::string result;
  llvm::raw_string_ostream os(result);
  if (llvm::Error error = llvm::objcopy::elf::executeObjcopyOnBinary(
          config, elf, *cast<llvm::object::ELFObjectFileBase>(parsed->get()), os))
    return failed(std::move(error));
  return result;
}

} // namespace quern
