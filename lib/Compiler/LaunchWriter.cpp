//===- LaunchWriter.cpp - Writing the launch of an artifact ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compiler/LaunchWriter.h"

#include "IR/QuernDialect.h"

using namespace mlir;

namespace quern {

namespace {

std::vector<SizeFactor> factorsOf(KernelAttr kernel) {
  std::vector<SizeFactor> factors;
  if (DenseI64ArrayAttr pairs = kernel.getFactors())
    for (int64_t i = 0; i < pairs.size(); i += 2)
      factors.push_back({static_cast<uint32_t>(pairs[i]), pairs[i + 1]});
  return factors;
}

} // namespace

/// Returns the position of an argument; nullopt if none has the name.
std::optional<uint32_t> LaunchWriter::argumentNamed(StringRef name) const {
  auto found = llvm::find_if(arguments, [&](const ArgumentInfo &argument) { return StringRef(argument.name) == name; });
  return found == arguments.end() ? std::nullopt : std::optional(static_cast<uint32_t>(found - arguments.begin()));
}

/// Returns the buffers of a call as positions in the problem's arguments, followed by the regions; empty if they are
/// exactly the arguments.
Result<std::vector<StepBuffer>> LaunchWriter::buffersOf(const KernelCall &call, ArrayRef<Launch::Region> regions) {
  std::vector<StepBuffer> buffers;
  bool passesAll = call.buffers.size() == arguments.size();
  for (const KernelCall::Buffer &buffer : call.buffers) {
    std::optional<uint32_t> position = argumentNamed(buffer.name);
    auto region = llvm::find_if(regions, [&](const Launch::Region &region) { return region.name == buffer.name; });
    if (!position == (region == regions.end()))
      return internalError("a kernel takes '", buffer.name.str(),
                           position ? "', which is both an argument and a region"
                                    : "', which is neither an argument nor a region");
    if (!position)
      position = static_cast<uint32_t>(arguments.size() + static_cast<size_t>(region - regions.begin()));
    passesAll &= *position == buffers.size() && buffer.byteOffset.terms.empty();
    buffers.push_back({*position, buffer.byteOffset});
  }
  if (passesAll)
    buffers.clear();
  if (buffers.size() > maxStepBuffers)
    return internalError("a kernel takes ", buffers.size(), " buffers; the limit is ", maxStepBuffers);
  return buffers;
}

Result<void> LaunchWriter::addStep(const KernelCall &call, ArrayRef<Launch::Region> regions) {
  auto kernel = attrOf<KernelAttr>(call.kernel);
  std::string symbol = SymbolTable::getSymbolName(call.kernel).str();
  auto entry = llvm::find(artifact.entries, symbol);
  uint32_t position = static_cast<uint32_t>(entry - artifact.entries.begin());
  if (entry == artifact.entries.end()) {
    artifact.entries.push_back(symbol);
    auto lowered = attrOf<LoweredAttr>(call.kernel); // null if the module is not lowered, for explain
    if (kernel.getGroupSize())
      artifact.groups.push_back({static_cast<int32_t>(kernel.getGroupSize()),
                                 static_cast<int32_t>(kernel.getSubGroupSize()),
                                 lowered ? lowered.getGroupBytes() : 0});
  }
  QUERN_ASSIGN_OR_RETURN(std::vector<StepBuffer> buffers, buffersOf(call, regions));
  artifact.steps.push_back({position, kernel.getSpace(), kernel.getNsPerIteration(), factorsOf(kernel),
                            std::move(buffers), call.independentOfPrevious});
  artifact.scratchBytesPerThread = std::max(artifact.scratchBytesPerThread, kernel.getScratchBytes());
  artifact.sharedScratchBytes = std::max(artifact.sharedScratchBytes, kernel.getSharedBytes());
  return {};
}

Result<void> LaunchWriter::add(Launch launch) {
  for (const KernelCall &call : launch.calls)
    QUERN_RETURN_IF_ERROR(addStep(call, launch.regions));
  artifact.loops = std::move(launch.loops);
  for (Launch::Region &region : launch.regions)
    artifact.regions.push_back(std::move(region.bytes));
  artifact.checks = std::move(launch.checks);
  for (Launch::Size &size : launch.sizes) {
    const bool isComputed = size.kind == DerivedSize::Kind::Computed;
    std::optional<uint32_t> argument = isComputed ? 0 : argumentNamed(size.argument);
    if (!argument)
      return internalError("a size uses '", size.argument.str(), "', which is not an argument");
    artifact.derivedSizes.push_back({*argument, std::move(size.limit), std::move(size.count), std::move(size.stride),
                                     size.kind, std::move(size.value)});
  }
  for (const ArgumentInfo &argument : arguments) {
    artifact.arguments.push_back(
        {argument.index, argument.isOutput ? 1u : 0u, std::max<int64_t>(argument.desc.bytes(), 0)});
    artifact.sizeCount += static_cast<uint32_t>(argument.runtimeSizes());
  }
  return {};
}

} // namespace quern
