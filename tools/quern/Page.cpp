//===- Page.cpp - A trace as a page of HTML -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// page/page.css has the page's style and page/page.js its behavior.
//
//===----------------------------------------------------------------------===//
#include "Page.h"

#include "PageAbout.h"
#include "PageParts.h"
#include "Svg.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

namespace quern {
namespace {

/// A stage of one of the kernels.
struct Column {
  size_t kernel;
  const nlohmann::json &trace, &stage;
  std::string label; ///< label of the kernel; "" if there is only one
  std::string name() const { return stage["name"]; }
  std::string title() const { return label.empty() ? name() : name() + ", " + label; }
};

/// Notes on lines of assembly, by 1-based line number.
struct LineNotes {
  std::map<int64_t, std::string> kinds;  ///< CSS class
  std::map<int64_t, std::string> titles; ///< tooltip
  std::map<int64_t, int64_t> samples;
  int64_t allSamples = 0;
};

void noteCosts(const nlohmann::json &loop, const nlohmann::json &offsets, LineNotes &notes) {
  for (const nlohmann::json &estimate : loop["estimates"]) {
    if (!estimate.contains("costs"))
      continue;
    size_t next = 0;
    for (int64_t line = loop["first"]; line <= loop["last"]; ++line) {
      if (offsets[static_cast<size_t>(line - 1)] < 0 || next >= estimate["costs"].size())
        continue;
      const nlohmann::json &cost = estimate["costs"][next++];
      notes.titles[line] += (notes.titles[line].empty() ? "" : "; ") + estimate["machine"].get<std::string>() +
                            ": latency " + cost[0].dump() + " cycles, one per " + cost[1].dump() + " cycles";
    }
  }
}

LineNotes notesOf(const Column &column) {
  LineNotes notes;
  if (!column.stage.contains("marks"))
    return notes;
  const std::pair<const char *, const char *> kinds[] = {{"spill", "a register is stored to the stack"},
                                                         {"reload", "a register is loaded from the stack"},
                                                         {"unaligned", "the alignment is unknown"}};
  for (const nlohmann::json &loop : column.stage["innermost"])
    noteCosts(loop, column.stage["offsets"], notes);
  for (const auto &[kind, title] : kinds)
    for (const nlohmann::json &line : column.stage["marks"][kind]) {
      notes.kinds[line] = kind;
      std::string &said = notes.titles[line];
      said = title + (said.empty() ? "" : "; " + said);
    }
  if (column.trace.contains("measured") && column.trace["measured"]["samples"].contains("lines")) {
    notes.allSamples = column.trace["measured"]["samples"]["inside"];
    for (const nlohmann::json &line : column.trace["measured"]["samples"]["lines"])
      notes.samples[line[0]] = line[1];
  }
  return notes;
}

/// Returns the attributes of a line: class, tooltip, and share of the samples.
std::string attributesOf(const LineNotes &notes, int64_t number) {
  std::string kind = "l", attributes;
  if (auto found = notes.kinds.find(number); found != notes.kinds.end())
    kind += " " + found->second;
  if (auto found = notes.titles.find(number); found != notes.titles.end())
    attributes += " title=\"" + escaped(found->second) + "\"";
  if (auto found = notes.samples.find(number); found != notes.samples.end()) {
    const double share = 100.0 * static_cast<double>(found->second) / static_cast<double>(notes.allSamples);
    char text[64];
    std::snprintf(text, sizeof(text), " data-share=\"%.1f%%\"", share);
    kind += share >= 5 ? " hot" : share >= 1 ? " warm" : "";
    attributes += text;
  }
  return "class=\"" + kind + "\"" + attributes;
}

void addColumn(std::string &html, const Column &column) {
  const bool isFolded = column.name() == "llvm";
  const LineNotes notes = notesOf(column);
  html += "<section data-kernel=\"" + std::to_string(column.kernel) + "\" data-stage=\"" + column.name() + "\"" +
          (isFolded ? " data-folded" : "") + (notes.allSamples ? " class=\"sampled\"" : "") + "><h2>" +
          escaped(column.title()) + "</h2><pre tabindex=\"0\">";
  std::istringstream text(column.stage["text"].get<std::string>());
  int64_t number = 0;
  for (std::string line; std::getline(text, line);)
    html += "<span " + attributesOf(notes, ++number) + ">" + escaped(line) + "\n</span>";
  html += "</pre></section><div class=\"grip\"></div>\n";
}

/// Returns the data of the script: {"of", "origins", "steps"} of each column.
std::string linksOf(const std::vector<Column> &columns) {
  nlohmann::json links = nlohmann::json::array();
  for (const Column &column : columns) {
    nlohmann::json link = {{"of", ""}, {"origins", nlohmann::json::array()}, {"steps", nlohmann::json::array()}};
    for (const char *part : {"of", "origins", "steps"})
      if (column.stage.contains(part))
        link[part] = column.stage[part];
    links.push_back(std::move(link));
  }
  return links.dump(); // only numbers and known names, so nothing can end the script element
}

void addHeader(std::string &html, const std::vector<PageKernel> &kernels, const std::vector<Column> &columns) {
  html += "<header><nav><input id=\"search\" type=\"search\" placeholder=\"Search: /\" aria-label=\"Search\">"
          "<span id=\"said\" role=\"status\"></span>";
  for (size_t at = 0; at < kernels.size(); ++at)
    html += "<label><input type=\"checkbox\" data-about checked> plan" +
            (kernels.size() > 1 ? " " + std::to_string(at + 1) : "") + "</label>";
  for (const Column &column : columns)
    html += "<label><input type=\"checkbox\" checked> " + escaped(column.title()) + "</label>";
  html += "<button id=\"theme\">Dark or light: d</button><output id=\"step\"></output></nav></header>\n";
}

/// Returns the label of a kernel: its target, or its number if targets are equal.
std::string labelOf(const std::vector<PageKernel> &kernels, size_t at) {
  if (kernels.size() == 1)
    return "";
  std::set<std::string> targets;
  for (const PageKernel &kernel : kernels)
    targets.insert(kernel.trace["target"].get<std::string>());
  return targets.size() == kernels.size() ? kernels[at].trace["target"].get<std::string>() : std::to_string(at + 1);
}

} // namespace

std::string pageOf(const std::vector<PageKernel> &kernels) {
  std::vector<Column> columns;
  size_t stages = 0;
  for (const PageKernel &kernel : kernels)
    stages = std::max(stages, kernel.trace["stages"].size());
  for (size_t stage = 0; stage < stages; ++stage)
    for (size_t at = 0; at < kernels.size(); ++at)
      if (const nlohmann::json &trace = kernels[at].trace; stage < trace["stages"].size())
        columns.push_back({at, trace, trace["stages"][stage], labelOf(kernels, at)});
  std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                     escaped(kernels.front().trace["problem"].get<std::string>()) + "</title>\n<style>\n";
  html.append(pageStyle).append("</style></head>\n<body>");
  addHeader(html, kernels, columns);
  html += "<main>\n";
  for (size_t at = 0; at < kernels.size(); ++at)
    html += aboutOf(kernels[at], at);
  for (const Column &column : columns)
    addColumn(html, column);
  html += "</main>\n<script type=\"application/json\" id=\"trace\">" + linksOf(columns) + "</script>\n<script>\n";
  html.append(pageScript).append("</script></body></html>\n");
  return html;
}

} // namespace quern
