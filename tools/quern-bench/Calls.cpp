//===- Calls.cpp - Costs of single calls of an interface ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Starts the processes, runs them alternately, and prints the table.
//
//===----------------------------------------------------------------------===//
#include "Calls.h"

#include "Child.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace quern::bench {

namespace {

constexpr int callsOfASample = 1000;
constexpr const char *fairPeer = "onednn-3.2"; ///< the peer with which docs/performance.md compares the drop-in

constexpr const char *callNames[] = {
    "softmax descriptor",          "softmax primitive",
    "softmax execute 1x16",        "softmax descriptor and primitive",
    "reorder execute 16x16 ab→ba", "reorder descriptor and primitive",
};

/// The SYCL build is left out: it queues executions, so the cost of a call depends on the length of the queue.
std::vector<std::string> interfacesOf(const Settings &settings) {
  std::vector<std::string> names = {nativeName, dropInName};
  if (std::find(settings.peers.begin(), settings.peers.end(), fairPeer) != settings.peers.end())
    names.push_back(fairPeer);
  return names;
}

std::unique_ptr<Child> startInterface(const std::string &name, const Settings &settings) {
  const bool isOurs = name == nativeName || name == dropInName;
  Start start = startOf(isOurs ? quernName : name, settings);
  start.command = {"/proc/self/exe", "--serve=calls"};
  if (name == dropInName)
    start.command.push_back("--library=" QUERN_BENCH_DROP_IN);
  else if (name != nativeName)
    start.command.push_back("--library=" + settings.peersFolder + "/" + name + "/lib/libdnnl.so.3");
  return std::make_unique<Child>(start.command, settings.cpus, start.environment);
}

void requireReady(const std::string &name, const std::string &reply) {
  if (reply != "ok")
    throw std::runtime_error(name + ": " + reply);
}

} // namespace

std::vector<CallRow> measureCalls(const Settings &settings) {
  const std::vector<std::string> names = interfacesOf(settings);
  std::map<std::string, std::unique_ptr<Child>> children;
  for (const std::string &name : names) {
    children[name] = startInterface(name, settings);
    requireReady(name, children[name]->ask(std::string("call ") + callNames[0]));
    children[name]->suspend();
  }
  const int samples = (settings.runs + rounds - 1) / rounds;
  const std::string request = "run " + std::to_string(samples) + " " + std::to_string(callsOfASample);
  std::vector<CallRow> rows;
  for (const char *call : callNames) {
    CallRow row{call, {}};
    for (int round = 0; round < rounds; ++round)
      for (const std::string &name : names) {
        Child &child = *children[name];
        child.resume();
        requireReady(name, child.ask(std::string("call ") + call));
        const std::vector<double> times = parseTimes(child.ask(request));
        child.suspend();
        std::vector<double> &all = row.results[name].ns;
        all.insert(all.end(), times.begin(), times.end());
      }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string describeCalls(const std::vector<CallRow> &rows, const Settings &settings) {
  const std::vector<std::string> names = interfacesOf(settings);
  const bool hasPeer = std::find(names.begin(), names.end(), fairPeer) != names.end();
  std::string head = "| call, in ns |", line = "|---|";
  for (const std::string &name : names) {
    head += " " + name + " |";
    line += "---|";
  }
  std::string text = head + " drop-in less native |" +
                     (hasPeer ? std::string(" ") + fairPeer + " over drop-in |" : "") + "\n" + line + "---|" +
                     (hasPeer ? "---|" : "") + "\n";
  char cell[64];
  for (const CallRow &row : rows) {
    text += "| " + row.call + " |";
    for (const std::string &name : names) {
      const Measurement &result = row.results.at(name);
      std::snprintf(cell, sizeof(cell), " %.0f / %.0f |", result.minimum(), result.median());
      text += cell;
    }
    const Measurement &dropIn = row.results.at(dropInName), &native = row.results.at(nativeName);
    std::snprintf(cell, sizeof(cell), " %.0f / %.0f |", dropIn.minimum() - native.minimum(),
                  dropIn.median() - native.median());
    text += cell;
    if (hasPeer) {
      const Measurement &peer = row.results.at(fairPeer);
      std::snprintf(cell, sizeof(cell), " %.2f / %.2f |", peer.minimum() / dropIn.minimum(),
                    peer.median() / dropIn.median());
      text += cell;
    }
    text += "\n";
  }
  return text;
}

} // namespace quern::bench
