//===- Page.cpp - A trace as a page of HTML -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Page.h. page/page.css and page/page.js are what the page looks like and does.
//
//===----------------------------------------------------------------------===//
#include "Page.h"

#include "PageParts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace quern {
namespace {

std::string escaped(std::string_view text) {
  std::string html;
  for (char c : text)
    switch (c) {
    case '&':
      html += "&amp;";
      break;
    case '<':
      html += "&lt;";
      break;
    case '>':
      html += "&gt;";
      break;
    case '"':
      html += "&quot;";
      break;
    default:
      html += c;
    }
  return html;
}

/// A stage of one of the kernels.
struct Column {
  size_t kernel;
  const nlohmann::json &stage;
  std::string target;
  std::string name() const { return stage["name"]; }
  std::string title(size_t kernels) const { return kernels > 1 ? name() + ", " + target : name(); }
};

void addColumn(std::string &html, const Column &column, size_t kernels) {
  const bool isFolded = column.name() == "llvm";
  html += "<section data-kernel=\"" + std::to_string(column.kernel) + "\" data-stage=\"" + column.name() + "\"" +
          (isFolded ? " data-folded" : "") + "><h2>" + escaped(column.title(kernels)) + "</h2><pre tabindex=\"0\">";
  std::istringstream text(column.stage["text"].get<std::string>());
  for (std::string line; std::getline(text, line);)
    html += "<span class=\"l\">" + escaped(line) + "\n</span>";
  html += "</pre></section><div class=\"grip\"></div>\n";
}

/// What the script needs beyond the texts: {"of", "origins", "steps"} of each column.
std::string linksOf(const std::vector<Column> &columns) {
  nlohmann::json links = nlohmann::json::array();
  for (const Column &column : columns) {
    nlohmann::json link = {{"of", ""}, {"origins", nlohmann::json::array()}, {"steps", nlohmann::json::array()}};
    for (const char *part : {"of", "origins", "steps"})
      if (column.stage.contains(part))
        link[part] = column.stage[part];
    links.push_back(std::move(link));
  }
  return links.dump(); // numbers, and names that are ours: nothing that ends a script
}

/// "20 times: reads 192 bytes by 3 loads, 3 operations (48 flops)".
std::string turnOf(const nlohmann::json &loop) {
  auto number = [&](const char *key) { return loop[key].get<int64_t>(); };
  std::string text;
  auto add = [&](const std::string &what) { text += (text.empty() ? "" : ", ") + what; };
  if (number("loads"))
    add("reads " + std::to_string(number("bytesRead")) + " bytes by " + std::to_string(number("loads")) + " loads");
  if (number("operations"))
    add(std::to_string(number("operations")) + " operations (" + std::to_string(number("flops")) + " flops)");
  if (number("stores"))
    add("writes " + std::to_string(number("bytesWritten")) + " bytes by " + std::to_string(number("stores")) +
        " stores");
  return text;
}

std::string nameOfLoop(const nlohmann::json &loop) {
  if (loop.contains("kernel"))
    return loop["kernel"];
  return loop.contains("trips") ? std::to_string(loop["trips"].get<int64_t>()) + " times" : "counted at run time";
}

/// The loops of a schedule as a tree in words, each a link to its line.
void addLoops(std::string &html, const nlohmann::json &trace, size_t kernel) {
  for (const nlohmann::json &stage : trace["stages"]) {
    if (!stage.contains("loops"))
      continue;
    const std::string place = stage["name"].get<std::string>() + (kernel ? "." + std::to_string(kernel) : "") + "-";
    html += "<details><summary>Loops, and what a turn of each does: " + escaped(trace["target"].get<std::string>()) +
            "</summary><div class=\"loops\">";
    for (const nlohmann::json &loop : stage["loops"]) {
      const std::string turn = turnOf(loop);
      html += "<a style=\"padding-left:" + std::to_string(2 * loop["depth"].get<int64_t>()) + "em\" href=\"#" + place +
              std::to_string(loop["line"].get<int64_t>()) + "\">" + escaped(nameOfLoop(loop)) +
              (turn.empty() ? "" : ": " + turn) + "</a>";
    }
    html += "</div></details>";
  }
}

void addHeader(std::string &html, const std::vector<nlohmann::json> &traces, const std::vector<PageKernel> &kernels,
               const std::vector<Column> &columns) {
  html += "<header>";
  for (size_t i = 0; i < traces.size(); ++i)
    html += "<h1>" + escaped(traces[i]["problem"].get<std::string>()) + "</h1><p>" +
            escaped(traces[i]["target"].get<std::string>()) + "  key " + escaped(traces[i]["key"].get<std::string>()) +
            "\n" + escaped(kernels[i].explanation) + "</p>";
  for (size_t i = 0; i < traces.size(); ++i)
    addLoops(html, traces[i], i);
  html += "<nav><input id=\"search\" type=\"search\" placeholder=\"Search: /\" aria-label=\"Search\">"
          "<span id=\"said\" role=\"status\"></span>";
  for (const Column &column : columns)
    html += "<label><input type=\"checkbox\" checked> " + escaped(column.title(traces.size())) + "</label>";
  html += "<button id=\"theme\">Dark or light: d</button><output id=\"step\"></output></nav></header>\n";
}

} // namespace

std::string pageOf(const std::vector<PageKernel> &kernels) {
  std::vector<nlohmann::json> traces;
  for (const PageKernel &kernel : kernels)
    traces.push_back(nlohmann::json::parse(kernel.trace));
  std::vector<Column> columns;
  for (size_t stage = 0; stage < traces.front()["stages"].size(); ++stage)
    for (size_t kernel = 0; kernel < traces.size(); ++kernel)
      if (stage < traces[kernel]["stages"].size())
        columns.push_back({kernel, traces[kernel]["stages"][stage], traces[kernel]["target"]});
  std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                     escaped(traces.front()["problem"].get<std::string>()) + "</title>\n<style>\n";
  html.append(pageStyle).append("</style></head>\n<body>");
  addHeader(html, traces, kernels, columns);
  html += "<main>\n";
  for (const Column &column : columns)
    addColumn(html, column, traces.size());
  html += "</main>\n<script type=\"application/json\" id=\"trace\">" + linksOf(columns) + "</script>\n<script>\n";
  html.append(pageScript).append("</script></body></html>\n");
  return html;
}

} // namespace quern
