//===- Suite.cpp - Running and counting drawn cases -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Suite.h"

#include "FamilyPack.h"

#include "Crash.h"
#include "Desc/Target.h"
#include "Flatness.h"
#include "OtherSizes.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <unistd.h>

namespace quern {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string withoutNewlines(std::string text) {
  std::replace(text.begin(), text.end(), '\n', '|');
  return text;
}

} // namespace

void SuiteOptions::settle(const PrimitiveCases &cases) {
  const int64_t rounds = cases.allRounds(), before = (part - 1) % parts;
  if (all) {
    first += rounds * before / parts;
    count = rounds * (before + 1) / parts - rounds * before / parts;
  } else if (count == 0) {
    count = cases.firstRound();
  }
  all = false;
}

Suite::~Suite() {
  std::error_code ignored;
  if (!cacheDirectory.empty())
    std::filesystem::remove_all(cacheDirectory, ignored);
}

Result<void> Suite::open() {
  startSeconds = now();
  reportCrashes();
  Result<Device> opened = Device::open(options.engine);
  if (!opened)
    return opened.takeError();
  device = std::move(*opened);
  cases.target = device.target();
  if (!options.peer.empty()) {
    setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "0", 1); // 3.2 reads freed attributes when its cache is full
    Result<std::unique_ptr<OneDnn>> found = OneDnn::open(options.peer);
    if (!found)
      return found.takeError();
    peer = std::move(*found);
  }
  if (options.useLoader) {
    std::string pattern = (std::filesystem::temp_directory_path() / "quern-conformance-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      return runtimeError("cannot create a directory like ", pattern);
    cacheDirectory = pattern;
  }
  if (Result<void> set = checked(quern_set_disk_cache(cacheDirectory.c_str())); !set)
    return set;
  // Without the memory cache, the second creation of a kernel reads the file of the first.
  return checked(quern_set_primitive_cache_capacity(0));
}

bool Suite::isOutOfTime() const { return options.seconds > 0 && now() - startSeconds > options.seconds; }

void Suite::runLegal() {
  options.settle(cases);
  for (int64_t redraws = 0; !isDrawnOut() && !isOutOfTime(); redraws = isFlat ? redraws + 1 : 0, legal += !isFlat) {
    const Case drawn = draw(options.first + legal, redraws);
    guarded = GuardedSide::End;
    nameRunningCase(describe(drawn));
    const int64_t before = notCompared();
    isFlat = false;
    if (Result<void> done = runCase(drawn); !done)
      fail(drawn, done.error().message);
    else
      passed += notCompared() == before && !isFlat;
    nameRunningCase({});
  }
}

Case Suite::draw(int64_t number, int64_t redraws) const {
  constexpr uint64_t seedStride = 1000003; // larger than typical seeds
  Case drawn = cases.draw(options.seed + static_cast<uint64_t>(redraws) * seedStride, number);
  drawn.redraws = redraws;
  if (peer) {
    cases.adaptToPeer(drawn);
    drawn.desc.attr.accumulationMode = AccumulationMode::F32; // the arithmetic of oneDNN for integers
  }
  if (peer && drawn.data.fill == FillKind::Special)
    drawn.data.fill = FillKind::Dense; // releases of oneDNN differ for NaN and infinity
  return drawn;
}

Result<bool> Suite::isToBeRedrawn(const Case &drawn, const ParsedProblem &problem, ProblemData &data) {
  constexpr int64_t redrawsOfAny = 8, maxRedraws = 40;
  const std::string part = flatPartOf(problem, data);
  if (part.empty())
    return false;
  const std::string_view why = reasonForFlat(problem.desc(), drawn.data.fill);
  if (drawn.redraws < (why.empty() ? maxRedraws : redrawsOfAny))
    return true;
  if (why.empty())
    return internalError("still has only one value after all attempts to draw other data: ", part);
  ++flat[std::string(why)];
  return false;
}

/// A peer refuses most drawn problems, so drawing continues until a third of the requested number has been compared.
bool Suite::isDrawnOut() const {
  constexpr int64_t maxDraws = 12;
  return legal >= options.count &&
         (!peer || options.listOnly || peerCompared >= minCompared() || legal >= maxDraws * options.count);
}

int64_t Suite::notCompared() const {
  int64_t count = peerRefused + skipped.total();
  for (const auto *reasons : {&peerUnsafe, &flat})
    for (const auto &[why, times] : *reasons)
      count += times;
  return count;
}

std::string Suite::settingOf() const {
  return device.isCpu() ? concat(options.families ? "QUERN_TIERS=family " : "",
                                 "QUERN_GUARD_SCRATCH=1 QUERN_MAX_CPU_ISA=", nameOfIsa(device.target().isa), ' ')
                        : std::string();
}

std::string Suite::describe(const Case &drawn) const {
  return settingOf() + commandOf(drawn) +
         concat("   # problem ", drawn.number, " of seed ", options.seed,
                drawn.redraws ? concat(", drawn again: ", drawn.redraws) : std::string());
}

std::string Suite::commandOf(const Case &drawn) const {
  std::string command = concat("quern run '", drawn.desc.text(), device.isCpu() ? "'" : "' --engine=gpu",
                               " --check --data=", nameOf(drawn.data.fill), " --seed=", drawn.data.seed);
  if (drawn.data.misalignment)
    command += concat(" --misalign=", drawn.data.misalignment);
  for (size_t i = 0; i < drawn.sizes.size(); ++i)
    command += concat(i ? "," : " --sizes=", drawn.sizes[i]);
  if (guarded != GuardedSide::End)
    command += concat(" --guard=", nameOf(guarded));
  return command + (drawn.data.inPlace ? " --in-place" : "");
}

void Suite::fail(const Case &drawn, const std::string &why) {
  ++failed;
  std::cout << "FAILED: " << why << "\n  " << describe(drawn) << std::endl;
}

void Suite::failLine(const std::string &line, const std::string &why) {
  ++failed;
  std::cout << "FAILED: " << why << "\n  quern run '" << line << "'" << std::endl;
}

Result<void> Suite::readCase(const Case &drawn, ParsedProblem &open, ParsedProblem &sized) const {
  std::string text = drawn.desc.text();
  Result<PrimitiveDesc> parsed = PrimitiveDesc::parse(text);
  if (!parsed || !(*parsed == drawn.desc))
    return internalError("the text form does not round-trip: ",
                         parsed ? parsed->text() : withoutNewlines(parsed.error().message));
  Result<ParsedProblem> first = readProblem(text, device.target());
  if (!first)
    return first.takeError();
  Result<std::string> sizedText = drawn.sizes.empty() ? Result<std::string>(text) : withSizes(text, drawn.sizes);
  Result<ParsedProblem> second =
      sizedText ? readProblem(*sizedText, device.target()) : Result<ParsedProblem>(sizedText.takeError());
  if (!second)
    return second.takeError();
  open = std::move(*first);
  sized = std::move(*second);
  return {};
}

void Suite::countCase(const Case &drawn, const PrimitiveDesc &sized, ProblemData &data) {
  cases.count(drawn, sized, &data);
  bySpecial += drawn.data.fill == FillKind::Special;
  inPlace += drawn.data.inPlace;
  misaligned += drawn.data.misalignment != 0;
}

Result<void> Suite::runCase(const Case &drawn) {
  ParsedProblem open, sized;
  if (Result<void> read = readCase(drawn, open, sized); !read)
    return skipOrFail(read.takeError());
  if (options.listOnly) {
    std::cout << commandOf(drawn) << '\n';
    return {};
  }
  std::unique_ptr<OneDnnPrimitive> theirPrimitive = peer ? askPeer(sized) : nullptr;
  if (peer && !theirPrimitive)
    return {};
  if (std::optional<Result<void>> done = cases.runInstead(device, drawn)) {
    if (!*done)
      return skipOrFail(done->takeError());
    cases.count(drawn, sized.desc(), nullptr);
    return {};
  }
  Result<ProblemData> data = ProblemData::create(sized, drawn.data);
  if (!data)
    return data.takeError();
  if (Result<void> expected = data->computeExpected(); !expected)
    return expected;
  Result<bool> again = isToBeRedrawn(drawn, sized, *data);
  if (!again)
    return again.takeError();
  if (isFlat = *again; isFlat) {
    ++redrawn;
    return {};
  }
  empty += sized.verified.isNoop;

  std::string text = drawn.desc.text();
  Result<std::unique_ptr<FamilyPack>> family =
      options.families ? FamilyPack::of(open.verified, open.target) : Result<std::unique_ptr<FamilyPack>>(nullptr);
  if (!family)
    return family.takeError();
  Result<Kernel> kernel = Kernel::create(device, text);
  if (!kernel) // the problem was verified
    return kernel.takeError();
  if (*family && !kernel->info().is_family)
    return internalError("the kernel is not from the family, but from ", nameOf(kernel->info().origin));
  ofFamily += kernel->info().is_family;
  if (!peer)
    countCase(drawn, sized.desc(), *data);
  if (options.aliases)
    return runAliases(*kernel, drawn, sized, *data);
  std::string fromOrc, fromLoader;
  if (options.useOrc)
    if (Result<void> done = executeAndJudge(*kernel, drawn, *data, fromOrc); !done)
      return done;
  if (Result<void> done = options.useOrc && !peer ? runOtherSizes(*kernel, drawn) : Result<void>(); !done)
    return done;
  if (peer)
    return cases.judgesPeer() ? judgePeer(sized, drawn, *data, *theirPrimitive)
                              : compareWithPeer(sized, drawn, *data, *theirPrimitive);
  if (!options.useLoader || kernel->info().origin == quern_origin_none || kernel->info().is_family)
    return {};

  Result<Kernel> loaded = Kernel::create(device, text);
  if (!loaded)
    return loaded.takeError();
  if (loaded->info().origin != quern_origin_disk)
    return internalError("when created again, the kernel came from ", nameOf(loaded->info().origin), ", not from disk");
  if (Result<void> done = executeAndJudge(*loaded, drawn, *data, fromLoader); !done)
    return Error{done.error().status, "with the loader: " + done.error().message};
  if (options.useOrc && fromOrc != fromLoader)
    return internalError("the kernels of the loader and of ORC have different results");
  return {};
}

Result<void> Suite::runOtherSizes(Kernel &kernel, const Case &drawn) {
  const std::string text = drawn.desc.text();
  Random random(drawn.data.seed);
  for (const std::vector<int64_t> &sizes : otherSizesOf(text, drawn.sizes, random)) {
    Result<std::string> sized = withSizes(text, sizes);
    Result<ParsedProblem> problem =
        sized ? readProblem(*sized, device.target()) : Result<ParsedProblem>(sized.takeError());
    if (!problem) // the sizes contradict known ones
      continue;
    Case other = drawn;
    other.sizes = sizes;
    Result<ProblemData> data = ProblemData::create(*problem, other.data);
    if (!data)
      return data.takeError();
    std::string bytes;
    Result<void> done = data->computeExpected();
    if (done)
      done = executeAndJudge(kernel, other, *data, bytes);
    if (!done)
      return Error{done.error().status, concat("with other sizes, ", commandOf(other), ": ", done.error().message)};
    ++otherSizes;
  }
  return {};
}

Result<void> Suite::runAliases(Kernel &kernel, const Case &drawn, const ParsedProblem &problem, ProblemData &data) {
  if (Result<void> given = data.addScratchpad(kernel); !given)
    return given;
  const std::string command =
      concat("quern-conformance --cases=", cases.name(), " --aliases --linker=orc --seed=", options.seed,
             " --first=", drawn.number, " --count=1");
  Result<void> done = aliases.run(kernel, problem, data, drawn, [&](std::string_view alias) {
    nameRunningCase(concat(describe(drawn), "\n  ", settingOf(), command, "   # ", alias));
  });
  return done ? done : Error{done.error().status, concat(done.error().message, "\n  ", settingOf(), command)};
}

Result<void> Suite::skipOrFail(Error error) {
  const bool isLacking = !device.isCpu() && error.status == Status::Unimplemented && skipped.add(error.message);
  return isLacking ? Result<void>() : Result<void>(std::move(error));
}

Result<void> Suite::executeAndJudge(Kernel &kernel, const Case &drawn, ProblemData &data, std::string &bytes) {
  if (Result<void> given = data.addScratchpad(kernel); !given)
    return given;
  const std::span<const int> counts = cases.threadCounts();
  for (size_t run = 0; run < std::max<size_t>(counts.size(), 2); ++run) { // alternates both ends
    const int threads = counts[run % counts.size()];
    guarded = run % 2 == 0 ? GuardedSide::End : GuardedSide::Beginning;
    data.moveTo(guarded);
    nameRunningCase(describe(drawn));
    if (Result<void> bound = kernel.bind(data.buffers()); !bound)
      return bound;
    data.refill();
    if (Result<void> set = checked(quern_set_num_threads(threads)); !set)
      return set;
    if (Result<void> executed = kernel.execute(); !executed)
      return executed;
    if (std::string stray = data.strayWrites(); !stray.empty())
      return internalError(stray);
    std::string output = data.outputBytes();
    if (run != 0) {
      if (output != bytes)
        return internalError(threads, " threads with buffers guarded at their ", nameOf(guarded),
                             " give other results than ", counts.front());
      continue;
    }
    bytes = std::move(output);
    const ReferenceOutput *judged = nullptr;
    Verdict verdict = data.judgeOutputs(&judged);
    if (std::isfinite(verdict.worst))
      worst = std::max(worst, verdict.worst);
    if (!verdict.isRight)
      return internalError(verdict.describe(judged->desc));
  }
  return {};
}

void Suite::runIllegal() {
  int64_t kinds = static_cast<int64_t>(cases.mistakes().size());
  if (kinds == 0)
    return;
  for (int64_t number = 0; number < std::max(options.count / 4, kinds) && !isOutOfTime(); ++number) {
    const Mistake &mistake = cases.mistakes()[static_cast<size_t>(number % kinds)];
    std::string line = drawMistake(cases, options.seed, number);
    Result<Kernel> kernel = Kernel::create(device, line);
    refusals[mistake.what] += 1;
    bool refused = !kernel && (kernel.error().status == Status::InvalidArguments ||
                               kernel.error().status == Status::Unimplemented);
    std::string named = concat('(', cases.name(), ' ', mistake.constraint, ')');
    if (!refused)
      failLine(line, concat(mistake.what, kernel ? ": accepted" : ": " + withoutNewlines(kernel.error().message)));
    else if (kernel.error().message.size() < 10)
      failLine(line, concat(mistake.what, ": refused without a reason"));
    else if (*mistake.constraint && kernel.error().message.find(named) == std::string::npos)
      failLine(line, concat(mistake.what, ": the message does not name ", mistake.constraint, ": ",
                            withoutNewlines(kernel.error().message)));
    else
      ++mistakesRefused;
  }
  for (int64_t number = 0; number < options.damagedLines && !isOutOfTime(); ++number) {
    std::string line = drawDamagedLine(cases, options.seed, number);
    Result<PrimitiveDesc> parsed = PrimitiveDesc::parse(line);
    Result<PrimitiveDesc> again = parsed ? PrimitiveDesc::parse(parsed->text()) : parsed;
    if (parsed ? !again || !(*again == *parsed) : parsed.error().message.size() < 10)
      failLine(line,
               parsed ? "a damaged line parses but does not round-trip" : "a damaged line is refused without a reason");
    else
      ++damaged;
  }
}

int Suite::summarize() const {
  int64_t missed = 0, notAsked = 0;
  std::cout << cases.name() << (device.isCpu() ? ", instruction set " : ", device ")
            << (device.isCpu() ? device.target().name() : std::string_view(device.name())) << ", seed " << options.seed
            << ", " << (options.useLoader ? options.useOrc ? "ORC and loader" : "loader" : "ORC") << ": " << legal
            << " problems (" << bySpecial << " with special values, " << inPlace << " in place, " << misaligned
            << " misaligned, " << empty << " empty), " << otherSizes
            << " executions of open kernels with other sizes\n";
  if (options.families)
    std::cout << ofFamily << " with the kernel of their family\n";
  cases.print(std::cout);
  aliases.print(std::cout);
  int64_t refused = 0;
  for (const auto &[what, count] : refusals)
    refused += count;
  std::cout << refused << " illegal problems of " << refusals.size() << " kinds\n";
  if (peer)
    std::cout << peer->version() << ": compared " << peerCompared << ", refused by it " << peerRefused << '\n';
  for (const auto &[difference, found] : peerDifferences)
    std::cout << "known difference: " << difference << ": " << found.first << '\n';
  skipped.print(std::cout);
  for (const auto &[why, count] : peerUnsafe) {
    notAsked += count;
    std::cout << "not asked: " << why << ": " << count << '\n';
  }
  std::cout << "drawn again: " << redrawn << '\n';
  for (const auto &[why, count] : flat)
    std::cout << "of one value: " << why << ": " << count << '\n';
  std::cout << "worst error " << worst << " of the threshold\n";
  for (const std::string &what : skipped.tooMany(legal)) {
    ++missed;
    std::cout << "FAILED: " << what << '\n';
  }
  if (!peer && options.first == 0)
    for (const std::string &what : cases.missing(legal)) {
      ++missed;
      std::cout << "not reached: " << what << '\n';
    }
  for (const std::string &what : options.aliases ? aliases.missing(legal) : std::vector<std::string>()) {
    ++missed;
    std::cout << "not reached: " << what << '\n';
  }
  for (const std::string &what : peer ? peerShortfalls() : std::vector<std::string>()) {
    ++missed;
    std::cout << "FAILED: " << what << '\n';
  }
  std::cout << "apart: " << notCompared() + mistakesRefused + damaged << " (" << peerRefused << " refused by a peer, "
            << notAsked << " not asked, " << notCompared() - peerRefused - notAsked - skipped.total()
            << " of one value, " << skipped.total() << " skipped, " << mistakesRefused << " mistakes, " << damaged
            << " damaged lines)\n"
            << passed << " passed, " << failed + missed << " failed" << std::endl;
  return failed || missed ? 1 : 0;
}

} // namespace quern
