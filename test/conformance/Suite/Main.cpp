//===- Main.cpp - quern-conformance ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs and judges random problems. A process can use only one instruction set, so with --isa the program runs itself
// once for each; with --jobs, it also runs itself.
//
//===----------------------------------------------------------------------===//
#include "Compile.h"
#include "Options.h"
#include "StandardStreams.h"
#include "Suite.h"

#include "Desc/Target.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iostream>
#include <set>
#include <sstream>
#include <thread>
#include <unistd.h>

using namespace quern;

namespace {

/// Returns every level of this process (AMX if the system permits it) that differs for primitives: VNNI adds only
/// products of bytes.
std::vector<std::string> availableIsas() {
  std::vector<std::string> names;
  for (CpuIsa isa : isasOf(archOf(detectedIsa())))
    if (includesIsa(detectedIsa(), isa) && isa != CpuIsa::Avx512Vnni)
      names.emplace_back(nameOfIsa(isa));
  return names;
}

std::string quoted(const std::string &text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

const CaseSet &setOf(std::string_view name) {
  return *std::find_if(std::begin(caseSets), std::end(caseSets), [&](const CaseSet &set) { return set.name == name; });
}

/// A run of this program for one instruction set and a part of one set of cases.
struct Part {
  std::string isa, set;
  int64_t first = 0, count = 0;
  bool isFirst = false; ///< true if it also reads the damaged lines, which are the same in all parts of a set
};

/// Returns one part for each instruction set (or "all" that this machine has) and set of cases; a divisible set has
/// `jobs` parts of equal length. AMX is relevant only to sets that multiply matrices.
std::vector<Part> partsOf(const std::vector<std::string> &isas, const std::vector<std::string> &sets,
                          const SuiteOptions &options, int64_t jobs) {
  std::vector<Part> parts;
  std::set<std::string> begun;
  const bool drawsAll = isas == std::vector<std::string>{"all"};
  for (const std::string &isa : drawsAll ? availableIsas() : isas)
    for (const std::string &set : sets) {
      if (drawsAll && isa == nameOfIsa(CpuIsa::Avx512Amx) && !setOf(set).multipliesMatrices)
        continue;
      std::unique_ptr<PrimitiveCases> cases = setOf(set).make();
      SuiteOptions range = options;
      range.settle(*cases);
      int64_t slices = setOf(set).isDivisible ? std::min(jobs, range.count) : 1;
      for (int64_t slice = 0; slice < slices; ++slice)
        parts.push_back({isa, set, range.first + range.count * slice / slices,
                         range.count * (slice + 1) / slices - range.count * slice / slices, begun.insert(set).second});
    }
  return parts;
}

/// The output of a part; isClean is true if it exited successfully.
struct Output {
  std::string text;
  bool isClean = false;
};

Output outputOf(const Part &part, const SuiteOptions &options, const std::string &linker) {
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string command =
      concat("QUERN_MAX_CPU_ISA=", part.isa, " " QUERN_EMULATOR, quoted(self), " --cases=", part.set,
             " --seed=", options.seed, " --first=", part.first, " --count=", part.count, " --seconds=", options.seconds,
             " --linker=", linker, options.peer.empty() ? "" : " --peer=" + quoted(options.peer),
             options.listOnly ? " --list" : "", " --damaged=", part.isFirst ? options.damagedLines : 0,
             options.engine == quern_gpu ? " --engine=gpu" : "", options.compileOnly ? " --compile-only" : "",
             options.aliases ? " --aliases" : "", options.families ? " --families" : "");
  Output output;
  FILE *stream = popen(command.c_str(), "r");
  for (char line[4096]; stream && std::fgets(line, sizeof(line), stream);)
    output.text += line;
  output.isClean = stream && pclose(stream) == 0;
  return output;
}

struct Totals {
  int64_t passed = 0, failed = 0, notCompared = 0;

  /// Adds the counts in the last line of a part; a list has no counts.
  void add(const Output &output, bool isList) {
    long long good = 0, bad = 0, uncompared = 0;
    bool hasCounts = false;
    std::istringstream lines(output.text);
    for (std::string line; std::getline(lines, line);) {
      std::sscanf(line.c_str(), "apart: %lld", &uncompared);
      hasCounts = std::sscanf(line.c_str(), "%lld passed, %lld failed", &good, &bad) == 2;
    }
    passed += hasCounts ? good : 0;
    notCompared += uncompared;
    failed += hasCounts ? bad + (bad == 0 && !output.isClean) : !output.isClean || !isList;
  }
};

/// Runs the parts on `jobs` threads; their outputs are printed in order.
int runParts(const std::vector<Part> &parts, const SuiteOptions &options, const std::string &linker, int64_t jobs) {
  std::vector<std::promise<Output>> outputs(parts.size());
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads;
  for (int64_t job = 0; job < jobs; ++job)
    threads.emplace_back([&] {
      for (size_t i = next++; i < parts.size(); i = next++)
        outputs[i].set_value(outputOf(parts[i], options, linker));
    });
  Totals totals;
  for (std::promise<Output> &each : outputs) {
    const Output output = each.get_future().get();
    std::cout << output.text << std::flush;
    totals.add(output, options.listOnly);
  }
  if (!options.listOnly)
    std::cout << parts.size() << " runs\napart: " << totals.notCompared << '\n'
              << totals.passed << " passed, " << totals.failed << " failed" << std::endl;
  return totals.failed ? 1 : 0;
}

/// The SYCL build of oneDNN finds its libraries only through these variables; the dynamic linker reads them when a
/// process starts.
void restartWithPeerEnvironment(const std::string &peer, char **argv) {
  std::filesystem::path lib = std::filesystem::absolute(peer) / "lib";
  if (std::getenv("OCL_ICD_FILENAMES") || !std::filesystem::exists(lib / "libintelocl.so"))
    return;
  setenv("OCL_ICD_FILENAMES", (lib / "libintelocl.so").c_str(), 1);
  const char *old = std::getenv("LD_LIBRARY_PATH");
  setenv("LD_LIBRARY_PATH", concat(lib.string(), old ? ":" : "", old ? old : "").c_str(), 1);
  execv("/proc/self/exe", argv); // if this fails, opening the peer reports the missing library
}

/// Makes the library's own scratch end at inaccessible pages. The library reads the variable once, when it is loaded.
void restartWithGuardedScratch(char **argv) {
  if (std::getenv("QUERN_GUARD_SCRATCH"))
    return;
  setenv("QUERN_GUARD_SCRATCH", "1", 1);
  execv("/proc/self/exe", argv); // if this fails, scratch is not guarded
}

constexpr int exitUnopened = 4;

/// Prints the reason on failure.
template <typename AnySuite> bool opens(AnySuite &suite) {
  Result<void> opened = suite.open();
  if (!opened)
    std::cerr << "quern-conformance: " << opened.error().message << '\n';
  return static_cast<bool>(opened);
}

int runSuite(const SuiteOptions &options, std::string_view set) {
  std::unique_ptr<PrimitiveCases> cases = setOf(set).make();
  if (options.compileOnly) {
    CompileSuite suite(options, *cases);
    if (!opens(suite))
      return exitUnopened;
    suite.run();
    return suite.summarize();
  }
  Suite suite(options, *cases);
  if (!opens(suite))
    return exitUnopened;
  suite.runLegal();
  if (options.listOnly)
    return suite.exitCode();
  if (!options.aliases)
    suite.runIllegal();
  return suite.summarize();
}

std::string roundsOf() {
  std::string text;
  for (const CaseSet &set : caseSets) {
    std::unique_ptr<PrimitiveCases> cases = set.make();
    text += concat(text.empty() ? "" : ", ", cases->firstRound(), " or ", cases->allRounds(), " of ", set.name);
  }
  return text;
}

} // namespace

static int run(int argc, char **argv) {
  SuiteOptions options;
  std::vector<std::string> isas;
  std::string linker = "both", engine = "cpu";
  CommandLine program("Runs random problems and checks their results. The exit status is 1 if a result is wrong or a "
                      "kind of problem was not reached.");
  program.option("--seed", options.seed, "Seed of the random generator").showDefault();
  std::vector<std::string> sets;
  for (const CaseSet &set : caseSets)
    sets.emplace_back(set.name);
  program.option("--cases", sets, "Sets of cases to run").commas().choices(sets).showDefault();
  program
      .option("--count", options.count,
              "Legal problems per set; 0: the first round, which covers every pair of properties")
      .showDefault();
  program.flag("--all", options.all,
               concat("All combinations of properties. Problems in the first round or with --all: ", roundsOf()));
  program.option("--parts", options.parts, "Split the problems of --all into this many equal parts and run one of them")
      .positive()
      .showDefault();
  program
      .option("--part", options.part,
              "Part to run: 1 is the first; larger numbers wrap around, e.g. the number of the day")
      .positive()
      .showDefault();
  program.option("--first", options.first, "Number of the first problem to run").showDefault();
  program
      .option("--damaged", options.damagedLines,
              "Number of damaged lines to parse, which are the same for every instruction set")
      .showDefault();
  program.option("--seconds", options.seconds, "Time limit in seconds; 0: no limit").showDefault();
  program.option("--isa", isas, "Instruction sets, or all; default: this machine's, or QUERN_MAX_CPU_ISA").commas();
  program
      .option("--engine", engine,
              "cpu, or gpu: the first Level Zero device. Problems that it does not support are skipped and counted")
      .choices({"cpu", "gpu"})
      .showDefault();
  int64_t jobs = 1;
  program
      .option("--jobs", jobs,
              "Parallel processes, each for an instruction set, a set of cases, or a part of reorder-tags")
      .positive()
      .showDefault();
  program.option("--linker", linker, "orc, loader (compiled, then loaded from disk) or both")
      .choices({"orc", "loader", "both"})
      .showDefault();
  program.flag(
      "--aliases", options.aliases,
      "Place outputs in the buffers of other arguments: results must be correct, or the execution must be refused "
      "before anything is written");
  program.flag("--families", options.families, "Run the kernel of each problem's family, if it has one");
  program.flag("--list", options.listOnly,
               "Verify the problems and print the commands that run them, but do not run them");
  program.flag(
      "--compile-only", options.compileOnly,
      "Only compile the problems for devices with random limits, and check the modules with spirv-val; 40 per set "
      "by default");
  program.option("--peer", options.peer,
                 "A oneDNN 3.x library to compare with: its file, or its environment from tools/peers.sh");
  if (std::optional<int> status = program.parse(argc, argv))
    return *status;
  try {
    options.engine = engine == "gpu" ? quern_gpu : quern_cpu;
    options.useLoader = linker != "orc";
    if (options.families)
      setenv("QUERN_TIERS", "family", 1);
    options.useOrc = linker != "loader" || !options.peer.empty();
    if (isas.empty() && (sets.size() > 1 || jobs > 1))
      isas = {std::string(nameOfIsa(Target::host().isa))};
    if (!isas.empty())
      return runParts(partsOf(isas, sets, options, jobs), options, linker, jobs);
    if (!options.peer.empty())
      restartWithPeerEnvironment(options.peer, argv);
    return runSuite(options, sets.front());
  } catch (const std::exception &error) {
    std::cerr << "quern-conformance: " << error.what() << '\n';
    return 4;
  }
}

int main(int argc, char **argv) {
  openStandardStreams();
  restartWithGuardedScratch(argv);
  return finishOutput("quern-conformance", run(argc, argv), 4);
}
