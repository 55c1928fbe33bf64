//===- MaskCheck.cpp - Masked accesses in machine code --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Masked accesses are found in the texts of LLVM IR and assembly by the few forms that they have. An access that LLVM
// folds into another instruction has that instruction's line, so a line without any access is also a fault. Code
// generation also drops branches that constants decide and merges equal ends of blocks, whose lines are then absent.
//
//===----------------------------------------------------------------------===//
#include "MaskCheck.h"

#include "Crash.h"
#include "Kernel.h"
#include "Problem.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

namespace quern {
namespace {

/// A masked access of LLVM IR.
struct MaskedAccess {
  int64_t elementBytes = 1;
  std::optional<std::vector<bool>> lanes; ///< the lanes of a constant mask; none: the mask is not constant
  bool isAnySkipped() const { return !lanes || std::find(lanes->begin(), lanes->end(), false) != lanes->end(); }
  bool isAnyAccessed() const { return !lanes || std::find(lanes->begin(), lanes->end(), true) != lanes->end(); }
};

/// An access of an instruction.
struct Access {
  std::string text;
  bool isMasked = false;
  int64_t bytes = 0; ///< size of an access without a mask
};

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// Reads `@llvm.masked.load.v16f32.p0(ptr align 4 %5, <16 x i1> <i1 true, …>, …)` and similar calls.
std::optional<MaskedAccess> readMasked(const std::string &line) {
  static const std::regex call(
      R"(@llvm\.masked\.(load|store|gather|scatter|expandload|compressstore)\.(nx)?v\d+b?[fi](\d+))");
  static const std::regex constant(R"(<\d+ x i1> (<[^>]*>|splat \(i1 (true|false)\)|zeroinitializer))");
  std::smatch found, mask;
  if (!std::regex_search(line, found, call))
    return std::nullopt;
  MaskedAccess access;
  access.elementBytes = std::max(1, std::stoi(found[3]) / 8);
  if (!std::regex_search(line, mask, constant))
    return access;
  access.lanes.emplace();
  const std::string values = mask[1];
  static const std::regex lane("true|false|zeroinitializer");
  for (std::sregex_iterator at(values.begin(), values.end(), lane), end; at != end; ++at)
    access.lanes->push_back(at->str() == "true");
  return access;
}

/// Returns the bytes of an x86 access without a mask, by its mnemonic or its widest register.
int64_t bytesOf(const std::string &instruction) {
  static const std::pair<const char *, int64_t> scalars[] = {
      {"ss\t", 4},     {"movd\t", 4},   {"sd\t", 8},        {"movq\t", 8},        {"movl\t", 4},
      {"movw\t", 2},   {"movb\t", 1},   {"movsh\t", 2},     {"pinsrb\t", 1},      {"pinsrw\t", 2},
      {"pinsrd\t", 4}, {"pinsrq\t", 8}, {"pextrb\t", 1},    {"pextrw\t", 2},      {"pextrd\t", 4},
      {"pextrq\t", 8}, {"movlps\t", 8}, {"movhps\t", 8},    {"movhpd\t", 8},      {"insertps\t", 4},
      {"movzbl\t", 1}, {"movzwl\t", 2}, {"extractps\t", 4}, {"broadcastss\t", 4}, {"broadcastsd\t", 8}};
  for (const auto &[name, bytes] : scalars)
    if (instruction.find(name) != std::string::npos)
      return bytes;
  return instruction.find("%zmm") != std::string::npos ? 64 : instruction.find("%ymm") != std::string::npos ? 32 : 16;
}

/// Returns the access of an instruction to a buffer; none for the stack, constants, addresses and prefetches.
std::optional<Access> readAccess(const std::string &line) {
  static const std::regex x86(R"(^\t(?!lea|prefetch)[a-z0-9]+.*\(%(?!rip|rsp))"),
      x86Mask(R"(\{%k[1-7]\}|maskmov|gather)"), arm(R"(^\t(ld|st)[a-z0-9]*\t.*\[x\d)"), armMask(R"(\bp\d+(/[zm])?,)");
  if (line.find(":lo12:") != std::string::npos)
    return std::nullopt;
  if (std::regex_search(line, arm))
    return Access{line.substr(1), std::regex_search(line, armMask), 0};
  if (std::regex_search(line, x86))
    return Access{line.substr(1), std::regex_search(line, x86Mask), bytesOf(line)};
  return std::nullopt;
}

/// Returns true if the mask is constant and an access without a mask fits between two of its set lanes, both included.
bool isWithinLanes(const Access &access, const MaskedAccess &masked) {
  if (!masked.lanes)
    return false;
  const auto lanes = static_cast<int64_t>(masked.lanes->size()),
             width = std::max<int64_t>(1, access.bytes / masked.elementBytes);
  auto isSet = [&](int64_t lane) { return (*masked.lanes)[static_cast<size_t>(lane)]; };
  for (int64_t first = 0; first + width <= lanes; ++first)
    if (isSet(first) && isSet(first + width - 1))
      return true;
  return lanes == 1 && isSet(0); // a splat
}

std::string faultOf(int64_t line, const MaskedAccess &masked, const std::vector<Access> &accesses) {
  if (accesses.empty())
    return masked.isAnyAccessed() ? concat("line ", line, " of the schedule accesses nothing in the assembly") : "";
  for (const Access &access : accesses)
    if (!access.isMasked && !isWithinLanes(access, masked))
      return concat("line ", line, " of the schedule is accessed without a mask by ", access.text);
  return "";
}

const nlohmann::json &stageOf(const nlohmann::json &trace, std::string_view name) {
  for (const nlohmann::json &stage : trace["stages"])
    if (stage["name"].get<std::string>() == name)
      return stage;
  static const nlohmann::json none = {{"text", ""}, {"origins", nlohmann::json::array()}};
  return none;
}

/// Calls `take` with each line of a stage except spills, the line of the schedule that it comes from, and its block of
/// LLVM IR.
template <typename Take> void forEachLine(const nlohmann::json &stage, Take take) {
  const std::vector<std::string> lines = linesOf(stage["text"]);
  const nlohmann::json &origins = stage["origins"];
  std::set<size_t> spills;
  for (const char *mark : {"spill", "reload"})
    if (stage.contains("marks"))
      for (const size_t line : stage["marks"][mark])
        spills.insert(line - 1);
  int64_t block = 0;
  for (size_t i = 0; i < lines.size() && i < origins.size(); ++i) {
    block += !lines[i].empty() && (std::isdigit(static_cast<unsigned char>(lines[i][0])) || lines[i][0] == 'd');
    if (!origins[i].empty() && !spills.contains(i))
      take(lines[i], origins[i][0].get<int64_t>(), block);
  }
}

/// The accesses of a kernel in LLVM IR and in assembly, by line of the schedule.
struct KernelAccesses {
  std::map<int64_t, MaskedAccess> masked;
  std::map<int64_t, std::vector<Access>> made;
  std::map<int64_t, std::set<int64_t>> blocks;     ///< the blocks of LLVM IR that a line has instructions in
  std::map<int64_t, std::vector<int64_t>> inBlock; ///< lines with accesses, by block, in their order
  std::set<int64_t> endsInStore;                   ///< blocks whose last access is a store, which is never folded
  std::set<int64_t> keptBlocks;                    ///< blocks with an instruction in the assembly

  /// Returns true if the assembly has no part of the access because its whole block is dropped, or because the end of
  /// the block, down to a store, is merged with that of another block.
  bool isRemoved(int64_t line) const {
    const std::set<int64_t> &lineBlocks = blocks.at(line);
    if (lineBlocks.size() != 1)
      return false;
    if (!keptBlocks.contains(*lineBlocks.begin()))
      return true;
    const std::vector<int64_t> &accesses = inBlock.at(*lineBlocks.begin());
    return endsInStore.contains(*lineBlocks.begin()) &&
           std::none_of(std::find(accesses.begin(), accesses.end(), line), accesses.end(),
                        [&](int64_t access) { return made.contains(access); });
  }
};

KernelAccesses accessesOf(const nlohmann::json &trace) {
  static const std::regex plain(R"( = load |^\s*store )");
  KernelAccesses kernel;
  forEachLine(stageOf(trace, "llvm"), [&](const std::string &line, int64_t origin, int64_t block) {
    kernel.blocks[origin].insert(block);
    const std::optional<MaskedAccess> access = readMasked(line);
    if (access || std::regex_search(line, plain)) {
      kernel.inBlock[block].push_back(origin);
      if (line.find("store") == std::string::npos)
        kernel.endsInStore.erase(block);
      else
        kernel.endsInStore.insert(block);
    }
    if (access && access->isAnySkipped())
      kernel.masked.emplace(origin, *access);
  });
  forEachLine(stageOf(trace, "assembly"), [&](const std::string &line, int64_t origin, int64_t) {
    if (const std::set<int64_t> &lineBlocks = kernel.blocks[origin]; lineBlocks.size() == 1)
      kernel.keptBlocks.insert(*lineBlocks.begin());
    if (std::optional<Access> access = readAccess(line))
      kernel.made[origin].push_back(*access);
  });
  return kernel;
}

} // namespace

MaskCheck checkMasks(std::string_view trace) {
  const nlohmann::json data = nlohmann::json::parse(trace);
  KernelAccesses kernel = accessesOf(data);
  MaskCheck check;
  for (const auto &[line, access] : kernel.masked) {
    if (kernel.isRemoved(line))
      continue;
    ++check.accesses;
    if (std::string fault = faultOf(line, access, kernel.made[line]); !fault.empty())
      check.faults.push_back(std::move(fault));
  }
  return check;
}

std::string checkMasksOf(const KernelRequest &request) {
  RunningCase running(concat("quern dump '", request.line, "' --target=", request.target, " --json"));
  auto lineOf = [&](std::string_view word, const std::string &number, const std::string &reason) {
    return concat(word, ' ', number, ' ', request.target, ' ', request.line, reason.empty() ? "" : " # ", reason);
  };
  auto failure = [&](const Error &error) {
    const bool isRefused = error.status == Status::Unimplemented || error.status == Status::InvalidArguments ||
                           error.status == Status::NotRequired;
    return lineOf(isRefused ? "refused" : "failed", "-", error.message.substr(0, error.message.find('\n')));
  };
  Result<ParsedProblem> problem = readProblem(request.line, request.target);
  if (!problem)
    return failure(problem.error());
  Result<std::string> trace = compileTo(problem->text, request.target, quern_form_trace);
  if (!trace)
    return failure(trace.error());
  const MaskCheck check = checkMasks(*trace);
  std::string faults;
  for (const std::string &fault : check.faults)
    faults += (faults.empty() ? "" : "; ") + fault;
  return lineOf(faults.empty() ? "ok" : "failed", std::to_string(check.accesses), faults);
}

} // namespace quern
