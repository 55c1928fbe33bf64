//===- Estimates.cpp - Loop estimates from LLVM's processor models --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Analyzes a loop like the program llvm-mca, with its library. Cycles are counted over the second half of the
// iterations, after the first half has filled the queues.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Listing.h"

#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/MCA/Context.h"
#include "llvm/MCA/CustomBehaviour.h"
#include "llvm/MCA/HWEventListener.h"
#include "llvm/MCA/InstrBuilder.h"
#include "llvm/MCA/Pipeline.h"
#include "llvm/MCA/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace quern {
namespace {

/// Returns an even number of iterations to simulate: a few thousand instructions are enough to reach the steady state.
unsigned iterationsFor(size_t instructions) {
  constexpr size_t maxIterations = 64, minIterations = 8, targetInstructions = 4000;
  return static_cast<unsigned>(std::clamp(targetInstructions / instructions, minIterations, maxIterations)) / 2 * 2;
}

/// Counts events from the end of the first half of the iterations to the end of the second.
class IterationCounter : public mca::HWEventListener {
public:
  IterationCounter(size_t instructions, unsigned iterations) : instructions(instructions), iterations(iterations) {}

  void onCycleEnd() override { ++cycle; }
  void onEvent(const mca::HWInstructionEvent &event) override {
    const size_t at = event.IR.getSourceIndex();
    const bool isLastOfHalf = at + 1 == instructions * (iterations / 2), isLast = at + 1 == instructions * iterations;
    if (event.Type == mca::HWInstructionEvent::Retired && (isLastOfHalf || isLast))
      (isLast ? end : begin) = cycle;
    if (event.Type != mca::HWInstructionEvent::Issued || at < instructions * (iterations / 2))
      return;
    for (const mca::ResourceUse &use : static_cast<const mca::HWInstructionIssuedEvent &>(event).UsedResources)
      busy[use.first] += static_cast<double>(use.second);
  }

  double perIteration(double count) const { return count / (iterations - iterations / 2); }
  double cycles() const { return perIteration(static_cast<double>(end - begin)); }
  std::map<mca::ResourceRef, double> busy; ///< by resource and unit

private:
  size_t instructions;
  unsigned iterations;
  uint64_t cycle = 0, begin = 0, end = 0;
};

class Model {
public:
  Model(const TargetMachine &machine, const char *name)
      : target(machine.getTarget()), name(name), info(*machine.getMCInstrInfo()),
        registers(*machine.getMCRegisterInfo()),
        subtarget(target.createMCSubtargetInfo(machine.getTargetTriple(), name, machine.getTargetFeatureString())),
        analysis(target.createMCInstrAnalysis(&info)), instruments(*subtarget, info) {}

  LoopEstimate estimate(ArrayRef<MCInst> loop);

private:
  Error build(ArrayRef<MCInst> loop, mca::InstrBuilder &builder, std::vector<std::unique_ptr<mca::Instruction>> &built,
              LoopEstimate &estimate);
  void addPorts(const IterationCounter &counter, LoopEstimate &estimate) const;

  const Target &target;
  const char *name;
  const MCInstrInfo &info;
  const MCRegisterInfo &registers;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCInstrAnalysis> analysis;
  mca::InstrumentManager instruments;
};

Error Model::build(ArrayRef<MCInst> loop, mca::InstrBuilder &builder,
                   std::vector<std::unique_ptr<mca::Instruction>> &built, LoopEstimate &estimate) {
  for (const MCInst &instruction : loop) {
    Expected<std::unique_ptr<mca::Instruction>> created = builder.createInstruction(instruction, {});
    if (!created)
      return created.takeError();
    const mca::InstrDesc &about = (*created)->getDesc();
    const MCSchedClassDesc &schedule = *subtarget->getSchedModel().getSchedClassDesc(about.SchedClassID);
    estimate.microOps += about.NumMicroOps;
    estimate.costs.push_back(
        {about.MaxLatency, about.isZeroLatency() ? 0 : MCSchedModel::getReciprocalThroughput(*subtarget, schedule)});
    built.push_back(std::move(*created));
  }
  return Error::success();
}

void Model::addPorts(const IterationCounter &counter, LoopEstimate &estimate) const {
  const MCSchedModel &model = subtarget->getSchedModel();
  double busiestCycles = 0;
  std::string busiest;
  for (const auto &[resource, cycles] : counter.busy) {
    const MCProcResourceDesc &about = *model.getProcResource(static_cast<unsigned>(resource.first));
    std::string port = about.Name;
    if (about.NumUnits > 1)
      port += "." + std::to_string(countr_zero(resource.second));
    const double perIteration = counter.perIteration(cycles);
    if (perIteration > busiestCycles) {
      busiestCycles = perIteration;
      busiest = port;
    }
    estimate.ports.emplace_back(std::move(port), perIteration);
  }
  // Each limit alone would allow an iteration in this number of cycles; the slack is for small inefficiencies.
  constexpr double slack = 1.1;
  const double dispatch = model.IssueWidth ? estimate.microOps / model.IssueWidth : 0;
  if (estimate.cycles > slack * std::max(busiestCycles, dispatch))
    estimate.boundBy = "latency";
  else
    estimate.boundBy = dispatch >= busiestCycles ? "dispatch" : busiest;
}

LoopEstimate Model::estimate(ArrayRef<MCInst> loop) {
  LoopEstimate estimate;
  estimate.machine = name;
  constexpr unsigned callLatency = 100; // llvm-mca's default; kernels have no calls
  // Owns the descriptions that the instructions refer to.
  mca::InstrBuilder builder(*subtarget, info, registers, analysis.get(), instruments, callLatency);
  std::vector<std::unique_ptr<mca::Instruction>> built;
  if (Error failure = build(loop, builder, built, estimate)) {
    estimate = {};
    estimate.machine = name;
    estimate.whyNot = toString(std::move(failure));
    estimate.whyNot = estimate.whyNot.substr(0, estimate.whyNot.find('\n'));
    return estimate;
  }
  const unsigned iterations = iterationsFor(loop.size());
  mca::CircularSourceMgr source(built, iterations);
  mca::CustomBehaviour behavior(*subtarget, source, info);
  mca::Context context(registers, *subtarget);
  const mca::PipelineOptions options(0, 0, 0, 0, 0, 0, /*NoAlias=*/true); // 0: the model's value
  std::unique_ptr<mca::Pipeline> pipeline = context.createDefaultPipeline(options, source, behavior);
  IterationCounter counter(loop.size(), iterations);
  pipeline->addEventListener(&counter);
  if (Expected<unsigned> done = pipeline->run(); !done) {
    estimate.whyNot = toString(done.takeError());
    return estimate;
  }
  estimate.cycles = counter.cycles();
  addPorts(counter, estimate);
  return estimate;
}

} // namespace

void estimateLoops(const TargetMachine &machine, NotedCode &noted, const std::vector<const char *> &machines) {
  for (const char *name : machines) {
    Model model(machine, name);
    for (ListedLoop &loop : noted.listing.loops)
      loop.estimates.push_back(
          model.estimate(ArrayRef<MCInst>(noted.instructions).slice(loop.first, loop.last - loop.first + 1)));
  }
}

} // namespace quern
