//===- Trace.cpp - The origins of the lines of each stage -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compiler/Trace.h"

#include "IR/Steps.h"
#include "IR/ValueNames.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace quern {
namespace {

constexpr int64_t traceVersion = 1;

/// Returns the lines of the stage `of` in a location, in ascending order.
Lines linesIn(Location location, StringRef of) {
  Lines lines;
  location->walk([&](Location part) {
    if (auto place = dyn_cast<FileLineColLoc>(part); place && place.getFilename() == of)
      lines.push_back(place.getLine());
    return WalkResult::advance();
  });
  llvm::sort(lines);
  lines.erase(llvm::unique(lines), lines.end());
  return lines;
}

SmallVector<Operation *> operationsOf(ModuleOp module) {
  SmallVector<Operation *> all;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) { all.push_back(op); });
  return all;
}

int64_t lineOf(Operation *op) {
  auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
  return place ? place.getLine() : 0;
}

/// Removes ", !dbg !12" from the end of the line and returns "12"; nullopt if the line has none.
std::optional<StringRef> takeDebugNumber(StringRef &line) {
  constexpr StringLiteral mark = ", !dbg !";
  const size_t at = line.rfind(mark);
  if (at == StringRef::npos)
    return std::nullopt;
  const StringRef rest = line.drop_front(at + mark.size()), number = rest.take_while(llvm::isDigit);
  if (number.size() != rest.size())
    return std::nullopt;
  line = line.take_front(at);
  return number;
}

/// For "!12 = !DILocation(line: 5, column: 3, …)", adds 12 -> 5 to `lines`.
void readDebugLocation(StringRef line, llvm::StringMap<int64_t> &lines) {
  constexpr StringLiteral mark = " = !DILocation(line: ";
  const auto [number, rest] = line.drop_front().split(mark);
  int64_t value = 0;
  if (!rest.take_while(llvm::isDigit).getAsInteger(10, value))
    lines[number] = value;
}

/// Returns true for assembly of line tables and unwinding, which is of no interest to a reader.
bool isOfLineTable(StringRef line) {
  const StringRef words = line.trim();
  return (words.starts_with(".file\t") && llvm::isDigit(words[6])) || words.starts_with(".loc\t") ||
         words.starts_with(".cfi_") ||
         (words.ends_with(":") && (words.starts_with(".Ltmp") || words.starts_with(".Lfunc_begin") ||
                                   words.starts_with(".Lsec_end") || words.starts_with(".Lcu_")));
}

void appendLine(TracedStage &stage, StringRef line, int64_t origin) {
  stage.text.append(line).append("\n");
  stage.origins.push_back(origin > 0 ? Lines{origin} : Lines());
}

llvm::json::Array asJson(const std::vector<Lines> &origins) {
  llvm::json::Array all;
  for (const Lines &lines : origins)
    all.push_back(llvm::json::Array(lines));
  return all;
}

llvm::json::Array asJson(const std::vector<LoopNode> &loops) {
  llvm::json::Array all;
  for (const LoopNode &loop : loops) {
    llvm::json::Object object{{"line", loop.line},
                              {"last", loop.last},
                              {"depth", loop.depth},
                              {"loads", loop.loads},
                              {"stores", loop.stores},
                              {"bytesRead", loop.bytesRead},
                              {"bytesWritten", loop.bytesWritten},
                              {"operations", loop.operations},
                              {"flops", loop.flops}};
    if (!loop.name.empty()) {
      object["kernel"] = loop.name;
      object["space"] = loop.space;
      object["arguments"] = llvm::json::Array(loop.arguments);
    }
    if (loop.ofSpace)
      object["ofSpace"] = loop.ofSpace;
    if (loop.meanTrips > 0)
      object["meanTrips"] = loop.meanTrips;
    if (loop.carried)
      object["carried"] = loop.carried;
    if (!loop.read.empty())
      object["read"] = llvm::json::Array(loop.read);
    if (!loop.written.empty())
      object["written"] = llvm::json::Array(loop.written);
    if (loop.trips)
      object["trips"] = *loop.trips;
    all.push_back(std::move(object));
  }
  return all;
}

/// Rounds to 1/16, which is exact in decimals and more precise than any model.
double rounded(double value) { return std::round(value * 16) / 16; }

llvm::json::Value asJson(const LoopEstimate &estimate) {
  llvm::json::Object object{{"machine", estimate.machine}};
  if (!estimate.whyNot.empty()) {
    object["whyNot"] = estimate.whyNot;
    return object;
  }
  llvm::json::Object ports;
  for (const auto &[port, cycles] : estimate.ports)
    ports[port] = rounded(cycles);
  llvm::json::Array costs;
  for (const LoopEstimate::Cost &cost : estimate.costs)
    costs.push_back(llvm::json::Array{cost.latency, rounded(cost.cycles)});
  object["cycles"] = rounded(estimate.cycles);
  object["microOps"] = estimate.microOps;
  object["boundBy"] = estimate.boundBy;
  object["ports"] = std::move(ports);
  object["costs"] = std::move(costs);
  return object;
}

/// Adds "offsets": by line, or -1; "marks": lines by kind; "innermost": the innermost loops.
void addListing(llvm::json::Object &object, const TracedStage &stage) {
  std::vector<int64_t> offsets(stage.origins.size(), -1);
  std::map<AccessMark, llvm::json::Array> marked;
  for (auto [line, instruction] : llvm::zip_equal(stage.instructionLines, stage.listing.instructions)) {
    offsets[static_cast<size_t>(line - 1)] = instruction.offset;
    marked[instruction.mark].push_back(line);
  }
  object["offsets"] = llvm::json::Array(offsets);
  object["marks"] = llvm::json::Object{{"spill", std::move(marked[AccessMark::Spill])},
                                       {"reload", std::move(marked[AccessMark::Reload])},
                                       {"unaligned", std::move(marked[AccessMark::Unaligned])}};
  llvm::json::Array innermost;
  for (const ListedLoop &loop : stage.listing.loops) {
    llvm::json::Array estimates;
    for (const LoopEstimate &estimate : loop.estimates)
      estimates.push_back(asJson(estimate));
    innermost.push_back(llvm::json::Object{{"first", stage.instructionLines[loop.first]},
                                           {"last", stage.instructionLines[loop.last]},
                                           {"estimates", std::move(estimates)}});
  }
  object["innermost"] = std::move(innermost);
}

} // namespace

Result<TracedStage> traceModule(OwningOpRef<ModuleOp> &module, const std::string &name, const std::string &heading,
                                const std::string &of) {
  TracedStage stage{name, "mlir", heading + namedText(*module), of, {}, {}, {}, {}, {}};
  if (!StringRef(stage.text).ends_with("\n"))
    stage.text += '\n';
  OwningOpRef<ModuleOp> read = parseSourceString<ModuleOp>(stage.text, module->getContext(), name);
  if (!read)
    return internalError("the text of stage ", name, " does not read back");
  const SmallVector<Operation *> before = operationsOf(*module), after = operationsOf(*read);
  if (before.size() != after.size())
    return internalError("the text of stage ", name, " reads back as ", after.size(), " operations, not ",
                         before.size());
  const auto lines = static_cast<size_t>(StringRef(stage.text).count('\n'));
  (of.empty() ? stage.steps.resize(lines) : stage.origins.resize(lines));
  for (auto [original, parsed] : llvm::zip_equal(before, after)) {
    const int64_t line = lineOf(parsed);
    if (auto nameLoc = original->getLoc()->findInstanceOf<NameLoc>()) // later stages then use the same name
      parsed->setLoc(NameLoc::get(nameLoc.getName(), parsed->getLoc()));
    if (line <= 0)
      continue;
    if (of.empty()) {
      stage.steps[static_cast<size_t>(line - 1)] = stepOf(original->getLoc());
      continue;
    }
    Lines &origins = stage.origins[static_cast<size_t>(line - 1)]; // a line may have several operations
    for (const int64_t origin : linesIn(original->getLoc(), of))
      if (!llvm::is_contained(origins, origin))
        origins.push_back(origin);
  }
  module = std::move(read);
  stage.loops = loopsOf(*module);
  return stage;
}

void keepOneLine(ModuleOp module, const std::string &of) {
  MLIRContext *context = module.getContext();
  const auto placeAt = [&](int64_t line) -> Location {
    return FileLineColLoc::get(context, of, static_cast<unsigned>(line), 1);
  };
  module->walk([&](Operation *op) {
    const Lines lines = linesIn(op->getLoc(), of);
    op->setLoc(!lines.empty()              ? placeAt(lines.front())
               : isa<LLVM::LLVMFuncOp>(op) ? placeAt(1)
                                           : UnknownLoc::get(context));
  });
}

LogicalResult addDebugScopes(ModuleOp module, const std::string &of) {
  keepOneLine(module, of);
  PassManager passes(module.getContext());
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  return passes.run(module);
}

TracedStage traceLlvm(StringRef text, const std::string &of) {
  TracedStage stage{"llvm", "llvm", "", of, {}, {}, {}, {}, {}};
  llvm::StringMap<int64_t> lines;
  SmallVector<StringRef> all;
  text.split(all, '\n');
  for (StringRef line : all)
    if (line.starts_with("!"))
      readDebugLocation(line, lines);
  for (StringRef line : all) {
    if (line.starts_with("!"))
      continue;
    const std::optional<StringRef> number = takeDebugNumber(line);
    if (const size_t scope = line.rfind(" !dbg !"); scope != StringRef::npos && line.starts_with("define"))
      appendLine(stage, (line.take_front(scope) + " {").str(), 0);
    else
      appendLine(stage, line, number ? lines.lookup(*number) : 0);
  }
  stage.text = StringRef(stage.text).rtrim('\n').str() + "\n";
  stage.origins.resize(static_cast<size_t>(StringRef(stage.text).count('\n')));
  return stage;
}

TracedStage traceAssembly(StringRef text, const std::string &of, CodeListing listing) {
  TracedStage stage{"assembly", "asm", "", of, {}, {}, {}, std::move(listing), {}};
  int64_t origin = 0;
  bool isDebugSection = false;
  SmallVector<StringRef> all;
  text.rtrim('\n').split(all, '\n');
  for (StringRef line : all) {
    StringRef words = line.trim();
    if (words.starts_with(".section") || words.starts_with(".text"))
      isDebugSection = words.contains(".debug_");
    if (words.consume_front(".loc\t")) {
      SmallVector<StringRef> numbers; // file, line, column
      words.split(numbers, ' ', -1, /*KeepEmpty=*/false);
      if (numbers.size() < 2 || numbers[1].getAsInteger(10, origin))
        origin = 0;
    }
    if (isDebugSection || isOfLineTable(line))
      continue;
    const bool isInstruction = line.starts_with("\t") && !words.starts_with(".") && !words.starts_with("#");
    appendLine(stage, line, isInstruction ? origin : 0);
    if (isInstruction)
      stage.instructionLines.push_back(static_cast<int64_t>(stage.origins.size()));
  }
  if (stage.instructionLines.size() != stage.listing.instructions.size())
    stage.listing = {}; // the listing is not of this text
  return stage;
}

std::string traceAsJson(const std::string &problem, const std::string &target, const std::string &plan,
                        ArrayRef<TracedStage> stages, llvm::json::Object fields) {
  llvm::json::Array all;
  for (const TracedStage &stage : stages) {
    llvm::json::Object object{{"name", stage.name}, {"language", stage.language}, {"text", stage.text}};
    if (!stage.steps.empty())
      object["steps"] = llvm::json::Array(stage.steps);
    if (!stage.loops.empty())
      object["loops"] = asJson(stage.loops);
    if (!stage.listing.instructions.empty())
      addListing(object, stage);
    if (!stage.of.empty()) {
      object["of"] = stage.of;
      object["origins"] = asJson(stage.origins);
    }
    all.push_back(std::move(object));
  }
  fields["version"] = traceVersion;
  fields["problem"] = problem;
  fields["target"] = target;
  fields["plan"] = plan;
  fields["stages"] = std::move(all);
  const llvm::json::Value trace = std::move(fields);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << trace << "\n";
  return text;
}

} // namespace quern
