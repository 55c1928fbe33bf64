//===- Compile.cpp - Compilation of drawn problems ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compile.h"

#include "Artifact/Artifact.h"
#include "Crash.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace quern {
namespace {

/// Draws limits of real devices, and some that no device has.
Target drawDevice(Random &random) {
  Target device = *Target::parse("spirv64");
  uint32_t sizes = 0;
  for (uint32_t size : {8, 16, 32, 64})
    sizes |= random.oneIn(2) ? size : 0;
  device.device.subGroupSizes = sizes ? sizes : random.pick({8u, 16u, 32u, 64u});
  device.device.maxGroupSize = random.pick({64, 128, 256, 512, 1024});
  device.device.groupMemoryBytes = random.pick({16384, 32768, 65536, 131072});
  device.device.vectorBytes = random.pick({0, 4, 8, 16, 32, 64});
  device.device.hasF16 = random.oneIn(2);
  device.device.hasF64 = random.oneIn(2);
  return device;
}

/// Returns the message without device-specific text.
std::string reasonOf(std::string message, const Target &device) {
  message = message.substr(0, message.find('\n'));
  const std::string text = device.text();
  if (size_t at = message.find(text); at != std::string::npos)
    message.replace(at, text.size(), "the device");
  return message;
}

Result<void> checkGroups(const Artifact &artifact, const DeviceTraits &device) {
  for (size_t i = 0; i < artifact.groups.size(); ++i) {
    const EntryGroup &group = artifact.groups[i];
    if (group.workItems < 1 || group.workItems > device.maxGroupSize)
      return internalError(artifact.entries[i], " has groups of ", group.workItems);
    if (group.subGroupSize && !device.hasSubGroups(group.subGroupSize))
      return internalError(artifact.entries[i], " has sub-groups of ", group.subGroupSize);
    if (group.memoryBytes > device.groupMemoryBytes)
      return internalError(artifact.entries[i], " takes ", group.memoryBytes, " bytes of group memory");
  }
  return {};
}

} // namespace

CompileSuite::~CompileSuite() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

Result<void> CompileSuite::open() {
  reportCrashes();
  std::string pattern = (std::filesystem::temp_directory_path() / "quern-modules-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    return runtimeError("cannot create a directory like ", pattern);
  folder = pattern;
  return {};
}

Result<void> CompileSuite::validate(const std::string &module) const {
  const std::string path = folder + "/module.spv";
  std::ofstream(path, std::ios::binary).write(module.data(), static_cast<std::streamsize>(module.size()));
  FILE *output = popen(concat("spirv-val --target-env spv1.3 '", path, "' 2>&1").c_str(), "r");
  std::string said;
  for (char part[512]; output && std::fgets(part, sizeof(part), output);)
    said += part;
  if (output && pclose(output) == 0)
    return {};
  return internalError("spirv-val: ", said.substr(0, said.find('\n')));
}

Result<void> CompileSuite::compile(const std::string &line, const Target &target) {
  Result<ParsedProblem> problem = readProblem(line, target);
  if (!problem && problem.error().status == Status::Unimplemented &&
      skipped.add(reasonOf(problem.error().message, target)))
    return {};
  if (!problem)
    return problem.takeError();
  if (problem->verified.isNoop) {
    ++empty;
    return {};
  }
  if (Result<void> made = make(*problem, target); !made)
    return made;
  ++compiled;
  return {};
}

Result<void> CompileSuite::make(const ParsedProblem &problem, const Target &target) const {
  Result<std::string> bytes = compileTo(problem.text, target.text(), quern_form_artifact);
  if (!bytes)
    return bytes.takeError();
  Result<Artifact> artifact = Artifact::parse(*bytes);
  if (!artifact)
    return artifact.takeError();
  if (Result<void> fit = checkGroups(*artifact, target.device); !fit)
    return fit;
  return validate(artifact->code);
}

void CompileSuite::run() {
  constexpr int64_t defaultCount = 40;
  const int64_t count = options.count ? options.count : options.all ? cases.firstRound() : defaultCount;
  for (int64_t number = options.first; number < options.first + count; ++number) {
    Random random(options.seed * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(number));
    cases.target = drawDevice(random);
    const std::string line = cases.draw(options.seed, number).desc.text();
    const std::string command =
        concat("quern compile '", line, "' --target=", cases.target.text(), " --emit=spirv -o kernel.spv");
    nameRunningCase(command);
    if (Result<void> done = compile(line, cases.target); !done) {
      ++failed;
      std::cout << "FAILED: " << reasonOf(done.error().message, cases.target) << "\n  " << command << std::endl;
    }
    nameRunningCase({});
  }
}

int CompileSuite::summarize() const {
  skipped.print(std::cout);
  const std::vector<std::string> excess = skipped.tooMany(compiled + empty + skipped.total() + failed);
  for (const std::string &what : excess)
    std::cout << "FAILED: " << what << '\n';
  std::cout << cases.name() << " for random devices, seed " << options.seed << ", from number " << options.first << ": "
            << compiled << " compiled, " << empty << " without elements, " << skipped.total()
            << " skipped\napart: " << empty + skipped.total() << '\n'
            << compiled << " passed, " << failed + static_cast<int64_t>(excess.size()) << " failed" << std::endl;
  return failed || !excess.empty() ? 1 : 0;
}

} // namespace quern
