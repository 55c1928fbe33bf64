//===- Listing.cpp - Recording instructions as they are emitted -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Listing.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAssembler.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCELFStreamer.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace quern {
namespace {

bool isStackOrConstant(const MCInst &instruction, const MCRegisterInfo &registers) {
  return any_of(instruction, [&](const MCOperand &operand) {
    if (!operand.isReg() || !operand.getReg())
      return false;
    const StringRef name = registers.getName(operand.getReg());
    return name == "RIP" || name == "RSP";
  });
}

/// Returns true if the instruction moves or computes with a whole vector in memory and requires no alignment. LLVM's
/// table of these is private, but the names of its instructions also show it.
bool isUnalignedVector(const MCInst &instruction, const MCInstrInfo &info, const MCRegisterInfo &registers) {
  const MCInstrDesc &about = info.get(instruction.getOpcode());
  if ((!about.mayLoad() && !about.mayStore()) || isStackOrConstant(instruction, registers))
    return false;
  const StringRef name = info.getName(instruction.getOpcode());
  if (name.contains("MOVUP") || name.contains("MOVDQU"))
    return true;
  const bool isFolded = name.ends_with("rm") || name.ends_with("rmk") || name.ends_with("rmkz") || name.ends_with("m");
  const bool isVector = name.contains("PS") || name.contains("PD") || name.starts_with("VP");
  const bool isPart = name.contains("BROADCAST") || name.contains("INSR") || name.contains("GATHER") ||
                      name.contains("MOVAP") || name.contains("MOVDQA") || name.contains("PREFETCH");
  return name.starts_with("V") && isFolded && isVector && !isPart;
}

class NotingStreamer : public MCELFStreamer {
public:
  NotingStreamer(MCContext &context, std::unique_ptr<MCAsmBackend> backend, std::unique_ptr<MCObjectWriter> writer,
                 std::unique_ptr<MCCodeEmitter> emitter, std::unique_ptr<raw_null_ostream> nowhere, NotedCode &noted,
                 const MCInstrInfo &info)
      : MCELFStreamer(context, std::move(backend), std::move(writer), std::move(emitter)), nowhere(std::move(nowhere)),
        comments(comment), noted(noted), info(info) {}

  // The printer reports spills only as comments.
  bool isVerboseAsm() const override { return true; }
  raw_ostream &getCommentOS() override { return comments; }

  void emitLabel(MCSymbol *symbol, SMLoc location) override {
    labels[symbol] = noted.instructions.size();
    MCELFStreamer::emitLabel(symbol, location);
  }

  void emitInstruction(const MCInst &instruction, const MCSubtargetInfo &subtarget) override {
    MCSymbol *place = getContext().createTempSymbol();
    MCELFStreamer::emitLabel(place);
    places.push_back(place);
    noted.instructions.push_back(instruction);
    noted.listing.instructions.push_back({0, markOf(instruction)});
    comment.clear();
    MCELFStreamer::emitInstruction(instruction, subtarget);
  }

  /// Called last by the printer: the code is laid out, and its symbols still exist.
  void reset() override {
    for (auto [place, listed] : zip_equal(places, noted.listing.instructions)) {
      uint64_t offset = 0;
      if (getAssembler().getSymbolOffset(*place, offset))
        listed.offset = static_cast<int64_t>(offset);
    }
    findLoops();
    places.clear();
    labels.clear();
    MCELFStreamer::reset();
  }

private:
  AccessMark markOf(const MCInst &instruction) const {
    const StringRef said(comment);
    if (said.contains("Spill"))
      return AccessMark::Spill;
    if (said.contains("Reload"))
      return AccessMark::Reload;
    return isUnalignedVector(instruction, info, *getContext().getRegisterInfo()) ? AccessMark::Unaligned
                                                                                 : AccessMark::None;
  }

  /// Returns the index of the instruction that a branch jumps to; nullopt for other instructions and unknown targets.
  std::optional<size_t> targetOf(const MCInst &instruction) const {
    if (!info.get(instruction.getOpcode()).isBranch())
      return std::nullopt;
    for (const MCOperand &operand : instruction)
      if (const auto *to = operand.isExpr() ? dyn_cast<MCSymbolRefExpr>(operand.getExpr()) : nullptr)
        if (auto found = labels.find(&to->getSymbol()); found != labels.end())
          return found->second;
    return std::nullopt;
  }

  /// Records the innermost loops. A loop extends from the target of a backward jump to the last such jump. Loops that
  /// contain another are not innermost and are skipped.
  void findLoops() {
    std::map<size_t, size_t> ends;
    for (size_t at = 0; at < noted.instructions.size(); ++at)
      if (std::optional<size_t> to = targetOf(noted.instructions[at]); to && *to <= at)
        ends[*to] = at;
    for (const auto &[first, last] : ends) {
      const auto next = ends.upper_bound(first);
      if (next == ends.end() || next->first > last)
        noted.listing.loops.push_back({first, last, {}});
    }
  }

  std::unique_ptr<raw_null_ostream> nowhere;
  std::string comment; ///< comment of the next instruction
  raw_string_ostream comments;
  NotedCode &noted;
  const MCInstrInfo &info;
  DenseMap<const MCSymbol *, size_t> labels; ///< index of the instruction after each
  std::vector<MCSymbol *> places;
};

} // namespace

std::unique_ptr<MCStreamer> createNotingStreamer(TargetMachine &machine, MCContext &context, NotedCode &noted) {
  const Target &target = machine.getTarget();
  const MCInstrInfo &info = *machine.getMCInstrInfo();
  std::unique_ptr<MCAsmBackend> backend(target.createMCAsmBackend(
      *machine.getMCSubtargetInfo(), *machine.getMCRegisterInfo(), machine.Options.MCOptions));
  std::unique_ptr<MCCodeEmitter> emitter(target.createMCCodeEmitter(info, context));
  auto nowhere = std::make_unique<raw_null_ostream>();
  std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(*nowhere);
  return std::make_unique<NotingStreamer>(context, std::move(backend), std::move(writer), std::move(emitter),
                                          std::move(nowhere), noted, info);
}

} // namespace quern
