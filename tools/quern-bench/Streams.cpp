//===- Streams.cpp - Streams of calls with new shapes ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each contestant and stream has its own process, so only the stream itself warms caches.
//
//===----------------------------------------------------------------------===//
#include "Streams.h"

#include "Api.h"
#include "Cache/Pack.h"
#include "Child.h"
#include "Family/Family.h"
#include "TemporaryFolder.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace quern::bench {

namespace {

constexpr const char *tiersName = "tiers", *specializedName = "specialized";
constexpr int newShapes = 10000;
/// The LSTM of the stream; widths are not open in a family.
constexpr const char *recurrentLine =
    "rnn fwd_i cell=lstm direction=left2right src_layer=f32:3x2x128:abc weights_layer=f32:1x1x128x4x128:abcde "
    "weights_iter=f32:1x1x128x4x128:abcde bias=f32:1x1x4x128:abcd dst_layer=f32:3x2x128:abc";

/// Writes a pack with the kernel of a problem's family and returns its path.
std::string writeFamily(const std::string &line, const TemporaryFolder &folder) {
  const Target &host = Target::host();
  const std::optional<Family> family = familyOf(BenchProblem::parse(line).verified, host);
  if (!family)
    throw std::runtime_error("it has no family: " + line);
  const std::string artifact = compileFor(family->problem.desc.text(), host.text());
  const Result<std::string> pack = writePack({artifact});
  if (!pack)
    throw std::runtime_error(pack.error().message);
  const std::string path = folder.path + "/family.qpk";
  std::ofstream(path, std::ios::binary) << *pack;
  return path;
}

std::vector<double> runStream(const std::string &contestant, const std::string &stream, int calls,
                              const Settings &settings, const std::string &packs) {
  const bool isOurs = contestant == tiersName || contestant == specializedName;
  Start start = startOf(isOurs ? quernName : contestant, settings);
  start.command = {"/proc/self/exe", "--serve=stream"};
  if (isOurs) {
    start.environment["QUERN_TIERS"] = contestant == tiersName ? "both" : "specialized";
    start.environment["QUERN_CACHE_DIR"] = "off";
    start.environment["QUERN_PACKS"] = packs;
  } else {
    start.command.push_back("--library=" + settings.peersFolder + "/" + contestant + "/lib/libdnnl.so.3");
  }
  Child child(start.command, settings.cpus, start.environment);
  if (const std::string reply = child.ask("call " + stream); reply != "ok")
    throw std::runtime_error(contestant + ": " + reply);
  return parseTimes(child.ask("run " + std::to_string(calls) + " 1"));
}

std::string timeText(double ns) {
  char text[32];
  std::snprintf(text, sizeof text, ns < 1e6 ? "%.1f µs" : "%.2f ms", ns < 1e6 ? ns / 1e3 : ns / 1e6);
  return text;
}

} // namespace

std::string builtFamilies() {
  std::string packs;
  for (const char *isa : {"sse42", "avx2", "avx512_core", "avx512_core_bf16"}) {
    const std::string path = std::string(QUERN_BENCH_FAMILIES "/families-") + isa + ".qpk";
    if (!std::filesystem::exists(path))
      throw std::runtime_error("the packs of families are missing: build the target quern-families");
    packs += (packs.empty() ? "" : ":") + path;
  }
  return packs;
}

std::vector<StreamRow> measureStreams(const StreamSettings &settings) {
  const TemporaryFolder folder;
  const std::string packs = builtFamilies() + ":" + writeFamily(recurrentLine, folder);
  std::vector<std::string> contestants = {tiersName, specializedName};
  for (const std::string &peer : settings.common.peers)
    if (peer.starts_with("onednn-"))
      contestants.push_back(peer);
  std::vector<StreamRow> rows;
  for (const char *stream : {newShapesName, attentionName, recurrentName}) {
    StreamRow row{stream, {}};
    for (const std::string &contestant : contestants) {
      if ((std::string(stream) + ", " + contestant).find(settings.filter) == std::string::npos)
        continue;
      std::fprintf(stderr, "%s, %s\n", stream, contestant.c_str());
      const int calls = stream == newShapesName ? std::min(newShapes, settings.calls) : settings.calls;
      row.results[contestant].ns = runStream(contestant, stream, calls, settings.common, packs);
    }
    if (!row.results.empty())
      rows.push_back(std::move(row));
  }
  return rows;
}

std::string describeStreams(const std::vector<StreamRow> &rows) {
  std::string text = "| stream | contestant | calls | median | 99 % below | 99.9 % below | worst | total |\n"
                     "|---|---|---|---|---|---|---|---|\n";
  for (const StreamRow &row : rows)
    for (const auto &[name, result] : row.results) {
      std::vector<double> sorted = result.ns;
      std::sort(sorted.begin(), sorted.end());
      const auto below = [&](size_t thousandths) { return timeText(sorted[sorted.size() * thousandths / 1000]); };
      text += "| " + row.stream + " | " + name + " | " + std::to_string(sorted.size()) + " | " +
              timeText(result.median()) + " | " + below(990) + " | " + below(999) + " | " + timeText(sorted.back()) +
              " | " + timeText(std::accumulate(sorted.begin(), sorted.end(), 0.0)) + " |\n";
    }
  return text;
}

} // namespace quern::bench
