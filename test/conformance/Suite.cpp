//===- Suite.cpp - Runs drawn cases and keeps count -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Suite.h.
//
//===----------------------------------------------------------------------===//
#include "Suite.h"

#include "Desc/Target.h"
#include "Primitives/Elements.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <unistd.h>

namespace quern {
namespace {

constexpr int threadCounts[] = {1, 2, 3, 7};
constexpr int64_t damagedLines = 500;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string withoutNewlines(std::string text) {
  std::replace(text.begin(), text.end(), '\n', '|');
  return text;
}

} // namespace

Suite::~Suite() {
  std::error_code ignored;
  if (!cacheDirectory.empty())
    std::filesystem::remove_all(cacheDirectory, ignored);
}

Result<void> Suite::open() {
  startSeconds = now();
  Result<Device> opened = Device::open(quern_cpu);
  if (!opened)
    return opened.takeError();
  device = std::move(*opened);
  if (!options.peer.empty()) {
    Result<std::unique_ptr<OneDnn>> found = OneDnn::open(options.peer);
    if (!found)
      return found.takeError();
    peer = std::move(*found);
  }
  if (options.useLoader) {
    std::string pattern = (std::filesystem::temp_directory_path() / "quern-conformance-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      return runtimeError("cannot make a directory like ", pattern);
    cacheDirectory = pattern;
  }
  if (Result<void> set = checked(quern_set_disk_cache(cacheDirectory.c_str())); !set)
    return set;
  // Without the memory cache the second creation of a kernel reads the file of the first.
  return checked(quern_set_primitive_cache_capacity(0));
}

bool Suite::isOutOfTime() const { return options.seconds > 0 && now() - startSeconds > options.seconds; }

void Suite::runLegal() {
  for (int64_t number = 0; legal < options.count && !isOutOfTime(); ++number) {
    Case drawn = drawCase(options.seed, number);
    // What a peer refuses once for its types it refuses always: go on to problems that can be compared.
    if (refusedPairs.contains({drawn.cell.src, drawn.cell.dst}) && number < 16 * options.count)
      continue;
    if (peer && drawn.data.fill == FillKind::Special)
      drawn.data.fill = FillKind::Dense; // oneDNN's releases differ in what they do with NaN and infinity
    ++legal;
    counts[drawn.cell] += peer ? 0 : 1;
    bySpecial += drawn.data.fill == FillKind::Special;
    inPlace += drawn.data.inPlace;
    empty += std::get<SoftmaxDesc>(drawn.desc.op).src.hasZeroDim();
    if (Result<void> done = runCase(drawn); !done)
      fail(drawn, done.error().message);
    else
      ++passed;
  }
}

void Suite::fail(const Case &drawn, const std::string &why) {
  ++failed;
  std::cout << "FAILED: " << why << "\n  QUERN_MAX_CPU_ISA=" << nameOfIsa(Target::host().isa) << " quern run '" << drawn.desc.text()
            << "' --check --data=" << nameOf(drawn.data.fill) << " --seed=" << drawn.data.seed;
  if (drawn.data.misalignment)
    std::cout << " --misalign=" << drawn.data.misalignment;
  std::cout << (drawn.data.inPlace ? " --in-place" : "") << std::endl;
}

void Suite::failLine(const std::string &line, const std::string &why) {
  ++failed;
  std::cout << "FAILED: " << why << "\n  quern run '" << line << "'" << std::endl;
}

Result<void> Suite::runCase(const Case &drawn) {
  std::string text = drawn.desc.text();
  Result<PrimitiveDesc> parsed = PrimitiveDesc::parse(text);
  if (!parsed || !(*parsed == drawn.desc))
    return internalError("the text form does not round-trip: ", parsed ? parsed->text() : withoutNewlines(parsed.error().message));
  Result<Problem> problem = readProblem(text, Target::host());
  if (!problem)
    return problem.takeError();
  Result<ProblemData> data = ProblemData::create(*problem, drawn.data);
  if (!data)
    return data.takeError();
  if (Result<void> expected = data->computeExpected(); !expected)
    return expected;

  Result<Kernel> kernel = Kernel::create(device, text);
  if (!kernel)
    return kernel.takeError();
  std::string fromOrc, fromLoader;
  if (options.useOrc)
    if (Result<void> done = executeAndJudge(*kernel, *data, fromOrc); !done)
      return done;
  if (peer)
    return compareWithPeer(*problem, drawn, *data);
  if (!options.useLoader || problem->verified.isNoop)
    return {};

  Result<Kernel> loaded = Kernel::create(device, text);
  if (!loaded)
    return loaded.takeError();
  if (loaded->info().origin != quern_origin_disk)
    return internalError("created again, the kernel came from ", nameOf(loaded->info().origin), " and not from disk");
  if (Result<void> done = executeAndJudge(*loaded, *data, fromLoader); !done)
    return Error{done.error().status, "with the loader: " + done.error().message};
  if (options.useOrc && fromOrc != fromLoader)
    return internalError("the loader's kernel and ORC's give different bits");
  return {};
}

Result<void> Suite::executeAndJudge(Kernel &kernel, ProblemData &data, std::string &bytes) {
  if (Result<void> bound = kernel.bind(data.buffers()); !bound)
    return bound;
  for (int threads : threadCounts) {
    data.refill();
    if (Result<void> set = checked(quern_set_num_threads(threads)); !set)
      return set;
    if (Result<void> executed = kernel.execute(); !executed)
      return executed;
    if (std::string stray = data.strayWrites(); !stray.empty())
      return internalError(stray);
    std::string output = data.outputBytes();
    if (threads != threadCounts[0]) {
      if (output != bytes)
        return internalError(threads, " threads give other bits than ", threadCounts[0]);
      continue;
    }
    bytes = std::move(output);
    Verdict verdict = data.judgeOutputs();
    if (std::isfinite(verdict.worst))
      worst = std::max(worst, verdict.worst);
    if (!verdict.isRight)
      return internalError(verdict.describe(*data.descOf(QUERN_ARG_DST)));
  }
  return {};
}

Result<void> Suite::compareWithPeer(const Problem &problem, const Case &drawn, ProblemData &data) {
  const SoftmaxDesc &op = std::get<SoftmaxDesc>(problem.desc().op);
  std::vector<double> ours = gather(op.dst, data.buffer(QUERN_ARG_DST));
  data.refill();
  Result<std::unique_ptr<OneDnnPrimitive>> theirPrimitive = peer->create(problem.verified);
  if (!theirPrimitive && theirPrimitive.error().status == Status::Unimplemented) {
    ++peerRefused;
    refusedPairs.insert({drawn.cell.src, drawn.cell.dst});
    return {};
  }
  if (!theirPrimitive)
    return theirPrimitive.takeError();
  if (Result<void> bound = (*theirPrimitive)->bind(data.addresses()); !bound)
    return bound;
  if (Result<void> ran = (*theirPrimitive)->execute(); !ran)
    return ran;
  ++peerCompared;
  counts[drawn.cell] += 1;
  std::vector<double> theirs = gather(op.dst, data.buffer(QUERN_ARG_DST));
  data.refill();
  Result<std::vector<ReferenceOutput>> expected = computeReference(problem.desc(), {{QUERN_ARG_SRC, data.buffer(QUERN_ARG_SRC)}});
  if (!expected)
    return expected.takeError();
  const ReferenceOutput &exact = expected->front();
  // Either may be off by the threshold, and a narrow output may round the other way.
  double threshold = 2 * thresholdOf(problem.desc(), op.dst.dataType);
  bool isNarrow = op.dst.dataType != DataType::F32 && op.dst.dataType != DataType::F64;
  for (size_t i = 0; i < ours.size(); ++i) {
    double scale = std::max(std::fabs(exact.exact[i]), exact.magnitude[i]);
    double step = isNarrow ? epsilonOf(op.dst.dataType) * std::max(std::fabs(ours[i]), 0x1p-14) : 0;
    if (std::fabs(ours[i] - theirs[i]) <= threshold * scale + step)
      continue;
    if (std::isnan(theirs[i]) && std::isfinite(exact.exact[i])) {
      // Seen of oneDNN 3.13 where the axis has one element and gaps follow: it reads the gaps. Ours has been judged right.
      ++peerWrong;
      return {};
    }
    return internalError("element ", i, " is ", ours[i], "; ", peer->version(), " gives ", theirs[i], " and exact is ", exact.exact[i]);
  }
  return {};
}

void Suite::runIllegal() {
  int64_t illegalCases = std::max<int64_t>(options.count / 4, 40);
  for (int64_t number = 0; number < illegalCases && !isOutOfTime(); ++number) {
    IllegalCase drawn = drawIllegalCase(options.seed, number);
    Result<Kernel> kernel = Kernel::create(device, drawn.line);
    refusals[drawn.what] += 1;
    bool refused = !kernel && (kernel.error().status == Status::InvalidArguments || kernel.error().status == Status::Unimplemented);
    if (!refused)
      failLine(drawn.line, concat(drawn.what, kernel ? ": accepted" : ": " + withoutNewlines(kernel.error().message)));
    else if (kernel.error().message.size() < 10)
      failLine(drawn.line, concat(drawn.what, ": refused without a reason"));
    else
      ++passed;
  }
  for (int64_t number = 0; number < damagedLines && !isOutOfTime(); ++number) {
    std::string line = drawDamagedLine(options.seed, number);
    Result<PrimitiveDesc> parsed = PrimitiveDesc::parse(line);
    Result<PrimitiveDesc> again = parsed ? PrimitiveDesc::parse(parsed->text()) : parsed;
    if (parsed ? !again || !(*again == *parsed) : parsed.error().message.size() < 10)
      failLine(line, parsed ? "a damaged line parses but does not round-trip" : "a damaged line is refused without a reason");
    else
      ++passed;
  }
}

int Suite::summarize() const {
  std::cout << "instruction set " << nameOfIsa(Target::host().isa) << ", seed " << options.seed << ", "
            << (options.useLoader ? options.useOrc ? "ORC and loader" : "loader" : "ORC") << ": " << legal << " problems (" << bySpecial
            << " with special values, " << inPlace << " in place, " << empty << " empty)\n"
            << (peer ? "compared" : "counts") << " as accurate/log/inf_as_zero\n"
            << std::setw(12) << "";
  for (LayoutFamily family : allFamilies)
    std::cout << std::setw(14) << nameOf(family);
  std::cout << '\n';
  int64_t missed = 0;
  for (DataType src : allTypes)
    for (DataType dst : allTypes) {
      std::cout << std::setw(12) << std::left << concat(nameOf(src), "->", nameOf(dst)) << std::right;
      for (LayoutFamily family : allFamilies) {
        std::string cell;
        for (Alg alg : allAlgs) {
          auto found = counts.find({src, dst, family, alg});
          int64_t count = found == counts.end() ? 0 : found->second;
          missed += count == 0;
          cell += (cell.empty() ? "" : "/") + std::to_string(count);
        }
        std::cout << std::setw(14) << cell;
      }
      std::cout << '\n';
    }
  int64_t refused = 0;
  for (const auto &[what, count] : refusals)
    refused += count;
  std::cout << refused << " illegal problems of " << refusals.size() << " kinds\n";
  if (peer)
    std::cout << peer->version() << ": compared " << peerCompared << ", refused by it " << peerRefused
              << ", NaN from it where there is none " << peerWrong << '\n';
  std::cout << "worst error " << worst << " of the threshold\n";
  bool hadToCover = !peer && options.count >= static_cast<int64_t>(allCells().size()) && !isOutOfTime();
  if (missed)
    std::cout << missed << " cells were not reached"
              << (hadToCover ? ""
                  : peer     ? ": the peer refuses them"
                             : ": the run was shorter than one round of them")
              << '\n';
  std::cout << passed << " passed, " << failed << " failed" << std::endl;
  return failed || (missed && hadToCover) ? 1 : 0;
}

} // namespace quern
