//===- PackBuild.cpp - quern pack build -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Artifacts are collected in a cache directory next to the output, which is removed when the pack is written; a build
// after an interruption does not compile them again. Problems with equal keys are merged before anything is compiled,
// and each artifact gets the first line with its key. The pack therefore depends neither on the distribution of jobs
// nor on earlier runs.
//
//===----------------------------------------------------------------------===//
#include "Cache/Disk.h"
#include "Cache/Pack.h"
#include "Command.h"
#include "Family/Family.h"
#include "Kernel.h"
#include "Output.h"
#include "Pack.h"
#include "Problem.h"
#include "Workers.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>
#include <thread>

namespace quern {
namespace {

/// A kernel to compile, or a function to read and compile.
struct PackJob {
  std::string line; ///< verified line; for a function the given line
  std::string target;
  KernelKey key;
  bool isFunction;
};

class PackBuilder {
public:
  explicit PackBuilder(const PackBuildOptions &options)
      : options(options), folder(options.output + ".work"), work(folder, UINT64_MAX) {}

  int build() {
    if (Result<void> found = findJobs(); !found)
      return reportError(found.error());
    if (Result<void> usable = work.check(); !usable)
      return reportError(usable.error());
    if (Result<void> compiled = compileMissing(); !compiled)
      return reportError(compiled.error());
    if (exitCode != exitOk && !options.keepGoing) {
      std::cerr << "no pack is written; compiled kernels are kept in " << folder << '\n';
      return exitCode;
    }
    if (Result<void> written = write(); !written)
      return moreSerious(exitCode, reportError(written.error()));
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return exitCode;
  }

private:
  Result<void> findJobs() {
    std::vector<Target> targets;
    for (const std::string &text : options.targets.empty() ? std::vector<std::string>{"native"} : options.targets) {
      QUERN_ASSIGN_OR_RETURN(Target target, Target::parse(text));
      targets.push_back(target);
    }
    std::vector<std::string> lines;
    for (const std::string &file : options.files) {
      QUERN_ASSIGN_OR_RETURN(std::vector<std::string> fileLines, readProblemFile(file));
      lines.insert(lines.end(), fileLines.begin(), fileLines.end());
    }
    std::vector<PrimitiveDesc> functions;
    for (const std::string &function : options.functions) {
      QUERN_ASSIGN_OR_RETURN(PrimitiveDesc given, readMlirFile(function, options.allowNaive));
      functions.push_back(std::move(given));
    }
    for (const Target &target : targets) {
      for (const std::string &line : lines)
        addProblem(line, target);
      for (const PrimitiveDesc &given : functions)
        add({given.text(), target.text(), keyOf(given, target), true});
    }
    return {};
  }

  void addProblem(const std::string &line, const Target &target) {
    Result<ParsedProblem> problem = readProblem(line, target);
    if (!problem)
      return fail(problem.error(), target.text());
    if (problem->verified.isNoop) // has no kernel
      return;
    if (!options.asFamilies)
      return add({problem->text, target.text(), keyOf(problem->desc(), target), false});
    const std::optional<Family> family = familyOf(problem->verified, target);
    if (!family)
      return fail(unimplemented("the problem has no family: ", line), target.text());
    add({family->problem.desc.text(), target.text(), family->key, false});
  }

  void add(PackJob job) {
    if (known.insert(job.key.bytes).second)
      jobs.push_back(std::move(job));
  }

  void fail(const Error &error, const std::string &target) {
    exitCode = moreSerious(exitCode, reportError({error.status, concat("for ", target, ": ", error.message)}));
  }

  /// Returns the job of a function's kernel; nothing if the function has not been read yet.
  Result<std::optional<PackJob>> kernelOfFunction(const PackJob &job) {
    std::optional<DiskCache::Hit> read = work.lookup(job.key);
    if (!read)
      return std::optional<PackJob>();
    Result<PrimitiveDesc> desc = PrimitiveDesc::fromBytes(read->artifact.code);
    Result<PrimitiveDesc> given = PrimitiveDesc::parse(job.line);
    if (!desc || !given)
      return desc ? given.takeError() : desc.takeError();
    desc->attr = given->attr;
    Result<Target> target = Target::parse(job.target);
    QUERN_ASSIGN_OR_RETURN(VerifiedProblem problem, verify(*desc, *target));
    return std::optional(PackJob{problem.desc.text(), job.target, keyOf(problem.desc, *target), /*isFunction=*/false});
  }

  bool isMissing(const PackJob &job) {
    if (!job.isFunction)
      return !work.lookup(job.key);
    const Result<std::optional<PackJob>> kernel = kernelOfFunction(job);
    return !kernel || !*kernel || !work.lookup((*kernel)->key);
  }

  /// Runs in a child. The library stores functions that it reads in the same directory.
  Result<void> compile(const PackJob &job) {
    QUERN_RETURN_IF_ERROR(checked(quern_set_disk_cache(folder.c_str())));
    QUERN_ASSIGN_OR_RETURN(std::string bytes, compileTo(job.line, job.target, quern_form_artifact));
    QUERN_ASSIGN_OR_RETURN(Artifact artifact, Artifact::parse(bytes));
    KernelKey key;
    key.digest = digestOf(artifact.keyBytes);
    key.bytes = std::move(artifact.keyBytes);
    return work.store(key, bytes);
  }

  Result<void> compileMissing() {
    std::vector<const PackJob *> missing;
    for (const PackJob &job : jobs)
      if (isMissing(job))
        missing.push_back(&job);
    compiledCount = missing.size();
    presentCount = jobs.size() - missing.size();
    ProgressBar progress("compiling", missing.size());
    const size_t processes = options.jobs ? static_cast<size_t>(options.jobs) : std::thread::hardware_concurrency();
    QUERN_ASSIGN_OR_RETURN(
        std::vector<FailedJob> failed,
        runInProcesses(
            missing.size(), processes, [&](size_t i) { return compile(*missing[i]); }, [&] { progress.advance(); }));
    for (const FailedJob &failure : failed)
      fail({failure.error.status, concat(failure.error.message, "\n  ", missing[failure.job]->line)},
           missing[failure.job]->target);
    compiledCount -= failed.size();
    return {};
  }

  /// Appends the artifact of a job, with the job's line as its problem; for a function, the function as read and its
  /// kernel. Appends nothing if it could not be compiled.
  Result<void> collect(const PackJob &job, std::vector<std::string> &artifacts) {
    std::optional<DiskCache::Hit> hit = work.lookup(job.key);
    if (!hit)
      return {};
    if (!job.isFunction) {
      hit->artifact.descriptor = job.line;
      artifacts.push_back(hit->artifact.serialize());
      return {};
    }
    artifacts.push_back(std::move(hit->bytes));
    QUERN_ASSIGN_OR_RETURN(std::optional<PackJob> kernel, kernelOfFunction(job));
    return kernel ? collect(*kernel, artifacts) : Result<void>();
  }

  Result<void> write() {
    std::vector<std::string> artifacts;
    for (const PackJob &job : jobs)
      QUERN_RETURN_IF_ERROR(collect(job, artifacts));
    QUERN_ASSIGN_OR_RETURN(std::string pack, writePack({artifacts.begin(), artifacts.end()}));
    QUERN_RETURN_IF_ERROR(writePackFile(options.output, pack));
    std::cout << compiledCount << " compiled, " << presentCount << " already there; "
              << formatBytes(static_cast<int64_t>(pack.size())) << " in " << options.output << '\n';
    return {};
  }

  const PackBuildOptions &options;
  std::string folder;
  DiskCache work;
  std::vector<PackJob> jobs;
  std::set<std::string> known; ///< keys of the jobs
  size_t compiledCount = 0, presentCount = 0;
  int exitCode = exitOk;
};

} // namespace

int buildPack(const PackBuildOptions &options) {
  if (options.files.empty() && options.functions.empty())
    return reportError(invalidArguments("no problems are given: files of them, or --mlir=FILE"));
  return PackBuilder(options).build();
}

Result<void> writePackFile(const std::string &path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  QUERN_RETURN_IF_ERROR(writeOutput(temporary, bytes));
  std::error_code failure;
  std::filesystem::rename(temporary, path, failure);
  return failure ? Result<void>(runtimeError("cannot rename ", temporary, ": ", failure.message())) : Result<void>();
}

} // namespace quern
