//===- Main.cpp - quern-kernels -------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles many problems for many targets, runs nothing, and compares the results with those of another build.
// tools/kernels.sh runs it.
//
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "Corpus.h"
#include "Cost.h"
#include "Crash.h"
#include "DigestComparison.h"
#include "KernelDigest.h"
#include "MaskCheck.h"
#include "Processes.h"
#include "StandardStreams.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <thread>

using namespace quern;

namespace {

struct DigestOptions {
  CorpusOptions corpus{defaultTargets(), {}, setsOfPrimitives(), 400, 1};
  std::string again, output = "-";
  int64_t jobs = std::max(1u, std::thread::hardware_concurrency());
};

struct MaskOptions {
  std::string trace;
  CorpusOptions corpus{cpuTargets(), {}, setsOfPrimitives(), 0, 1};
  int64_t jobs = std::max(1u, std::thread::hardware_concurrency());
};

struct CostOptions {
  CorpusOptions corpus{{"avx512_core_amx", "spirv64"}, {}, setsOfPrimitives(), 30, 1};
  std::string counter = "hardware";
  bool listOnly = false;
  int64_t repetitions = 5;
};

struct ComparisonOptions {
  std::string before, after;
  int64_t shown = 10;
  double percent = 0;
};

/// Returns the problems of a file of digests.
Result<std::vector<KernelRequest>> requestsOf(const std::string &path) {
  Result<std::vector<KernelDigest>> digests = readDigests(path);
  if (!digests)
    return digests.takeError();
  std::vector<KernelRequest> requests;
  for (KernelDigest &digest : *digests)
    requests.push_back(std::move(digest.request));
  return requests;
}

int digest(const DigestOptions &options) {
  Result<std::vector<KernelRequest>> requests =
      options.again.empty() ? corpusOf(options.corpus) : requestsOf(options.again);
  if (!requests)
    return reportError(requests.error());
  reportCrashes();
  Result<std::vector<std::string>> lines =
      inProcesses(requests->size(), options.jobs, [&](size_t i) { return digestKernel((*requests)[i]).text(); });
  if (!lines)
    return reportError(lines.error());
  std::string text;
  for (const std::string &line : *lines)
    text += line + '\n';
  if (Result<void> written = writeOutput(options.output, text); !written)
    return reportError(written.error());
  auto countOf = [&](const char *word) {
    return std::count_if(lines->begin(), lines->end(), [&](const std::string &line) { return line.starts_with(word); });
  };
  const auto failed = countOf("failed"), refused = countOf("refused"), all = static_cast<int64_t>(lines->size());
  std::cerr << all - failed - refused << " kernels, " << refused << " refused, " << failed << " failed\n";
  return failed ? exitFailed : exitOk;
}

int masksOfTrace(const std::string &path) {
  Result<std::string> trace = readFile(path);
  if (!trace)
    return reportError(trace.error());
  const MaskCheck check = checkMasks(*trace);
  for (const std::string &fault : check.faults)
    std::cout << fault << '\n';
  std::cout << check.accesses - static_cast<int64_t>(check.faults.size()) << " of " << check.accesses
            << " masked accesses are masked in the machine code\n";
  return check.faults.empty() ? exitOk : exitFailed;
}

int masks(const MaskOptions &options) {
  if (!options.trace.empty())
    return masksOfTrace(options.trace);
  Result<std::vector<KernelRequest>> requests = corpusOf(options.corpus);
  if (!requests)
    return reportError(requests.error());
  reportCrashes();
  Result<std::vector<std::string>> lines =
      inProcesses(requests->size(), options.jobs, [&](size_t i) { return checkMasksOf((*requests)[i]); });
  if (!lines)
    return reportError(lines.error());
  int64_t accesses = 0, checked = 0, failed = 0;
  for (const std::string &line : *lines) {
    if (line.starts_with("ok ")) {
      ++checked;
      accesses += std::stoll(line.substr(3));
    } else if (line.starts_with("failed ")) {
      ++failed;
      std::cout << line << '\n';
    }
  }
  std::cout << accesses << " masked accesses of " << checked << " kernels are masked in the machine code; "
            << lines->size() - static_cast<size_t>(checked + failed) << " problems refused, " << failed << " failed\n";
  return failed ? exitFailed : exitOk;
}

int cost(const CostOptions &options) {
  if (options.listOnly) {
    for (const std::string &set : options.corpus.sets)
      std::cout << set << '\n';
    return exitOk;
  }
  reportCrashes();
  const Counter counter = options.counter == "hardware"  ? Counter::Hardware
                          : options.counter == "outside" ? Counter::Outside
                                                         : Counter::Seconds;
  Result<void> done = printCosts(options.corpus, counter, options.repetitions, std::cout);
  return done ? static_cast<int>(exitOk) : reportError(done.error());
}

/// Files of costs start with their unit.
Result<bool> isSame(const ComparisonOptions &options) {
  Result<std::string> text = readFile(options.before);
  if (!text)
    return text.takeError();
  if (text->starts_with("instructions ") || text->starts_with("microseconds "))
    return compareCosts(options.before, options.after, options.percent, std::cout);
  Result<std::vector<KernelDigest>> before = readDigests(options.before), after = readDigests(options.after);
  if (!before || !after)
    return before ? after.takeError() : before.takeError();
  return compareDigests(std::move(*before), std::move(*after), static_cast<size_t>(options.shown), std::cout);
}

int compare(const ComparisonOptions &options) {
  Result<bool> same = isSame(options);
  return !same ? reportError(same.error()) : *same ? exitOk : exitWrong;
}

void addCorpusOptions(Command &command, CorpusOptions &corpus) {
  command.option("--count", corpus.count, "Random problems per set and target").notNegative().showDefault();
  command.option("--seed", corpus.seed, "Seed of the random problems").showDefault();
  command.option("--cases", corpus.sets, "Sets of cases of the conformance program")
      .commas()
      .choices(allSets())
      .showDefault();
  command.option("--targets", corpus.targets, "Targets in the form of `quern compile`, separated by spaces")
      .showDefault();
}

void addDigestCommand(CommandLine &program, int &exitCode) {
  auto options = std::make_shared<DigestOptions>();
  Command command = program.subcommand("digest", "Print digests of the kernels of many problems for many targets");
  addCorpusOptions(command, options->corpus);
  command.option("--problems", options->corpus.files, "Files of problems, in addition to random ones");
  command.option("--again", options->again, "Use the problems and targets of this file of digests instead");
  command.option("--jobs", options->jobs, "Parallel processes").positive().showDefault();
  command.option("-o", options->output, "Output file; - is standard output").showDefault();
  command.callback([options, &exitCode] { exitCode = digest(*options); });
}

void addMasksCommand(CommandLine &program, int &exitCode) {
  auto options = std::make_shared<MaskOptions>();
  Command command = program.subcommand("masks", "Check that each masked access of the LLVM IR is masked in the code");
  addCorpusOptions(command, options->corpus);
  command.option("--problems", options->corpus.files, "Files of problems, in addition to random ones");
  command.option("--trace", options->trace, "Check this output of `quern dump --json` instead");
  command.option("--jobs", options->jobs, "Parallel processes").positive().showDefault();
  command.callback([options, &exitCode] { exitCode = masks(*options); });
}

void addCostCommand(CommandLine &program, int &exitCode) {
  auto options = std::make_shared<CostOptions>();
  Command command = program.subcommand("cost", "Print the cost of compilation");
  addCorpusOptions(command, options->corpus);
  command.option("--problems", options->corpus.files, "Files of problems to use instead of random ones");
  command.option("--counter", options->counter, "hardware, outside (the caller counts instructions) or seconds")
      .choices({"hardware", "outside", "seconds"})
      .showDefault();
  command.flag("--list", options->listOnly, "Print only the names of the sets");
  command.option("--repetitions", options->repetitions, "Repetitions of each problem with --counter=seconds")
      .positive()
      .showDefault();
  command.callback([options, &exitCode] { exitCode = cost(*options); });
}

void addCompareCommand(CommandLine &program, int &exitCode) {
  auto options = std::make_shared<ComparisonOptions>();
  Command command = program.subcommand(
      "compare", "Print the differences of two files of digests or costs. The exit status is 1 if there are any");
  command.option("OLD", options->before, "A file of `digest` or `cost`").required();
  command.option("NEW", options->after, "The file to compare with OLD").required();
  command.option("--show", options->shown, "Maximum number of differences to show").notNegative().showDefault();
  command
      .option("--percent", options->percent,
              "Tolerated increase of a cost in percent; 0: 1 for instructions, 10 for time")
      .notNegative()
      .showDefault();
  command.callback([options, &exitCode] { exitCode = compare(*options); });
}

} // namespace

int main(int argc, char **argv) {
  openStandardStreams();
  try {
    CommandLine program("Compares kernels of different builds: digests, costs and masks.", "quern-kernels");
    program.requireSubcommand();
    int exitCode = exitOk;
    addDigestCommand(program, exitCode);
    addCostCommand(program, exitCode);
    addMasksCommand(program, exitCode);
    addCompareCommand(program, exitCode);
    if (std::optional<int> status = program.parse(argc, argv))
      exitCode = *status == 0 ? exitOk : exitUsage;
    return finishOutput("quern-kernels", exitCode, exitFailed);
  } catch (const std::exception &error) {
    std::cerr << "quern-kernels: " << error.what() << '\n';
    return exitFailed;
  }
}
