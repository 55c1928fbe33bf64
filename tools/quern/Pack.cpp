//===- Pack.cpp - quern pack ----------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lists, verifies, extracts and merges packs, and collects the problems of a program that ran. PackBuild.cpp builds
// packs from problems.
//
//===----------------------------------------------------------------------===//
#include "Pack.h"

#include "Cache/Disk.h"
#include "Cache/Pack.h"
#include "Command.h"
#include "Desc/PrimitiveDesc.h"
#include "Json.h"
#include "Output.h"

#include <iostream>
#include <set>
#include <sstream>

namespace quern {
namespace {

struct PackOptions {
  std::vector<std::string> files;
  std::string file, output, match;
  bool json = false;
};

int list(const PackOptions &options) {
  Result<std::shared_ptr<const Pack>> pack = Pack::open(options.file);
  if (!pack)
    return reportError(pack.error());
  Table table({"key", ">size", "target", "problem"});
  Json all = Json::array();
  for (size_t i = 0; i < (*pack)->size(); ++i) {
    const Pack::Entry entry = (*pack)->entry(i);
    const Result<Artifact> artifact = checkEntry(**pack, entry);
    const std::string target = artifact ? artifact->target : "",
                      problem = artifact ? artifact->descriptor : "(" + artifact.error().message + ")";
    table.addRow(
        {entry.digest.hex().substr(0, 12), formatBytes(static_cast<int64_t>(entry.artifact.size())), target, problem});
    all.push_back(
        {{"key", entry.digest.hex()}, {"bytes", entry.artifact.size()}, {"target", target}, {"problem", problem}});
  }
  Json targets = Json::array();
  for (const Target &target : (*pack)->targets())
    targets.push_back(target.text());
  if (options.json) {
    printJson(Json{{"file", options.file},
                   {"bytes", (*pack)->bytes().size()},
                   {"build", (*pack)->buildId()},
                   {"is_current_build", (*pack)->buildId() == compilerBuildId()},
                   {"targets", std::move(targets)},
                   {"artifacts", std::move(all)}});
    return exitOk;
  }
  if ((*pack)->size() > 0)
    table.print(std::cout);
  std::cout << (*pack)->size() << ((*pack)->size() == 1 ? " artifact, " : " artifacts, ")
            << formatBytes(static_cast<int64_t>((*pack)->bytes().size())) << ", of "
            << ((*pack)->buildId() == compilerBuildId() ? "this build" : "another build, " + (*pack)->buildId())
            << '\n';
  return exitOk;
}

int verifyPacks(const PackOptions &options) {
  size_t sound = 0, bad = 0;
  for (const std::string &file : options.files) {
    Result<std::shared_ptr<const Pack>> pack = Pack::open(file);
    if (!pack) {
      std::cout << pack.error().message << '\n';
      ++bad;
      continue;
    }
    for (size_t i = 0; i < (*pack)->size(); ++i) {
      const Pack::Entry entry = (*pack)->entry(i);
      const Result<Artifact> artifact = checkEntry(**pack, entry);
      (artifact ? sound : bad) += 1;
      if (!artifact)
        std::cout << file << ": " << entry.digest.hex() << ": " << artifact.error().message << '\n';
    }
  }
  std::cout << sound << " sound, " << bad << " damaged\n";
  return bad ? exitWrong : exitOk;
}

/// Extracts into a directory that can be used as a disk cache.
int extract(const PackOptions &options) {
  Result<std::shared_ptr<const Pack>> pack = Pack::open(options.file);
  if (!pack)
    return reportError(pack.error());
  DiskCache directory(options.output, UINT64_MAX);
  int exitCode = exitOk;
  size_t written = 0;
  for (size_t i = 0; i < (*pack)->size(); ++i) {
    Result<Artifact> artifact = checkEntry(**pack, (*pack)->entry(i));
    if (!artifact) {
      exitCode = moreSerious(exitCode, reportError(artifact.error()));
      continue;
    }
    if ((artifact->target + ' ' + artifact->descriptor).find(options.match) == std::string::npos)
      continue;
    const KernelKey key{std::move(artifact->keyBytes), (*pack)->entry(i).digest};
    if (Result<void> stored = directory.store(key, (*pack)->entry(i).artifact); !stored)
      return reportError(stored.error());
    ++written;
  }
  std::cout << written << (written == 1 ? " artifact" : " artifacts") << " in " << options.output << '\n';
  return exitCode;
}

int merge(const PackOptions &options) {
  std::vector<std::shared_ptr<const Pack>> packs;
  std::vector<std::string_view> artifacts;
  for (const std::string &file : options.files) {
    Result<std::shared_ptr<const Pack>> pack = Pack::open(file);
    if (!pack)
      return reportError(pack.error());
    packs.push_back(*pack);
    for (size_t i = 0; i < (*pack)->size(); ++i) {
      if (Result<Artifact> sound = checkEntry(**pack, (*pack)->entry(i)); !sound)
        return reportError(runtimeError(file, ": ", (*pack)->entry(i).digest.hex(), ": ", sound.error().message));
      artifacts.push_back((*pack)->entry(i).artifact);
    }
  }
  Result<std::string> merged = writePack(artifacts);
  if (!merged)
    return reportError(merged.error());
  if (Result<void> written = writePackFile(options.output, *merged); !written)
    return reportError(written.error());
  std::cout << formatBytes(static_cast<int64_t>(merged->size())) << " in " << options.output << '\n';
  return exitOk;
}

/// Returns the problem in a verbose line, "quern,create,disk,softmax,jit:avx2,LINE,0.1,KEY", or the line itself if it
/// is a problem; otherwise "".
std::string problemIn(std::string_view line) {
  if (line.starts_with("quern,")) {
    for (int field = 0; field < 5; ++field)
      line.remove_prefix(std::min(line.find(','), line.size() - 1) + 1);
    for (int field = 0; field < 2; ++field) // from the end, because the text of a caller's function may have commas
      line = line.substr(0, std::min(line.rfind(','), line.size()));
  }
  const Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
  return desc ? desc->text() : "";
}

int record(const PackOptions &options) {
  std::string text;
  std::set<std::string> known;
  for (const std::string &file : options.files) {
    Result<std::string> log = readFile(file);
    if (!log)
      return reportError(log.error());
    std::istringstream lines(*log);
    for (std::string line; std::getline(lines, line);)
      if (std::string problem = problemIn(line); !problem.empty() && known.insert(problem).second)
        text += problem + '\n';
  }
  if (known.empty())
    return reportError(invalidArguments("there is no problem in ", options.files.front(),
                                        ": lines of QUERN_VERBOSE, or one problem per line, were expected"));
  const Result<void> written = writeOutput(options.output.empty() ? "-" : options.output, text);
  return written ? static_cast<int>(exitOk) : reportError(written.error());
}

void addBuildCommand(Command &pack, int &exitCode) {
  auto options = std::make_shared<PackBuildOptions>();
  Command build = pack.subcommand("build", "Compile problems into a pack");
  build.option("FILE", options->files, "Files of problems, one per line; # starts a comment");
  build.option("-o,--output", options->output, "The pack").required();
  build.option("--target", options->targets, "Target, as for `compile`; may be repeated (default: native)")
      .oneArgument();
  build
      .option("--mlir", options->functions,
              "FILE[:function]: a function of a module in MLIR, with the bytes that its program passes")
      .oneArgument();
  build.flag("--naive", options->allowNaive, "Lower operations that no recipe supports to naive loops");
  build.option("-j,--jobs", options->jobs, "Number of processes that compile (default: one per processor)");
  build.flag("--families", options->asFamilies,
             "Compile the family of each problem: one kernel of open sizes for all problems of its kind");
  build.flag("-k,--keep-going", options->keepGoing, "Write a pack of the other problems if one is refused");
  build.callback([options, &exitCode] { exitCode = buildPack(*options); });
}

} // namespace

void addPackCommand(Command &program, int &exitCode) {
  auto options = std::make_shared<PackOptions>();
  Command command = program.subcommand("pack", "Build packs of kernels that ship with a program");
  command.requireSubcommand();
  addBuildCommand(command, exitCode);
  auto add = [&](const char *name, const char *help, int (*action)(const PackOptions &)) {
    Command sub = command.subcommand(name, help);
    sub.callback([options, action, &exitCode] { exitCode = action(*options); });
    return sub;
  };
  Command listCommand = add("list", "List the artifacts of a pack", list);
  listCommand.option("FILE", options->file, "The pack").required();
  listCommand.flag("--json", options->json, "Print JSON");
  add("verify", "Check every artifact; exit 1 if one is damaged", verifyPacks)
      .option("FILE", options->files, "Packs")
      .required();
  Command extractCommand = add("extract", "Write artifacts into a directory that serves as a disk cache", extract);
  extractCommand.option("FILE", options->file, "The pack").required();
  extractCommand.option("-o,--output", options->output, "The directory").required();
  extractCommand.option("--match", options->match, "Only artifacts with this text in their target or problem");
  Command mergeCommand = add("merge", "Merge packs into one", merge);
  mergeCommand.option("FILE", options->files, "Packs").required();
  mergeCommand.option("-o,--output", options->output, "The pack to write").required();
  Command recordCommand = add("record", "Write the problems of a program that ran, for `build`", record);
  recordCommand.option("LOG", options->files, "Its output with QUERN_VERBOSE=1 or 2, or one problem per line")
      .required();
  recordCommand.option("-o,--output", options->output, "Output file (default: standard output)");
}

} // namespace quern
