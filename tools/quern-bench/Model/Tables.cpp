//===- Tables.cpp - Tables of modeled loops -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Model/Bounds.h"
#include "Model/Model.h"
#include "Problems/Problem.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace quern::bench {

namespace {

const ModeledLoop *widestOf(const std::vector<ModeledLoop> &loops, const std::string &step) {
  const ModeledLoop *found = nullptr;
  for (const ModeledLoop &loop : loops)
    if (loop.step == step && (!found || loop.bytesRead > found->bytesRead))
      found = &loop;
  return found;
}

/// Returns the name of the handwritten loop with the peak of products like those of an instruction.
std::string peakOf(const std::string &multiply) {
  if (multiply.starts_with("bf"))
    return "peak-bf16";
  return multiply.starts_with("fm") ? "peak-f32" : "peak-int8";
}

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string percent(double share) { return fixed(100 * share, 0) + " %"; }

class Tables {
public:
  explicit Tables(const ModelSettings &settings) : settings(settings), bounds(settings.bounds, settings.mca) {}

  ModelReport describe() {
    addBounds();
    for (const std::string &target : settings.targets)
      addProducts(target);
    report.text +=
        "\n| target | processor | loops of products | lowest share of the peak | median | below 85 % | loops in all | "
        "spills in loops of products | in others |\n|---|---|---|---|---|---|---|---|---|\n" +
        sums + describeProducts();
    if (!spilled.empty())
      report.text += "\n| target | spills in a loop of products | instructions | of |\n|---|---|---|---|\n" + spilled;
    return std::move(report);
  }

private:
  void addBounds() {
    report.text += "| loop | target | processor | instructions | cycles for 64 bytes read | by hand | ratio |\n"
                   "|---|---|---|---|---|---|---|\n";
    for (const BoundedLoop &bounded : bounds.loops())
      for (const std::string &target : settings.targets) {
        const std::vector<ModeledLoop> loops = modeledLoopsOf(bounded.line, target, settings.processors);
        const ModeledLoop *loop = widestOf(loops, bounded.step);
        if (!loop)
          throw std::runtime_error("no loop of '" + bounded.step + "' for " + target + " in: " + bounded.line);
        for (const auto &[processor, cycles] : loop->cycles)
          addBound(bounded, target, processor, *loop, cycles);
      }
  }

  void addBound(const BoundedLoop &bounded, const std::string &target, const std::string &processor,
                const ModeledLoop &loop, double cycles) {
    const std::optional<double> byHand = bounds.cyclesPerUnit(bounded.name, target, processor);
    if (!byHand)
      return;
    constexpr double unit = 64;
    const double ours = cycles / loop.bytesRead;
    report.text += "| " + bounded.name + " | " + target + " | " + processor + " | " +
                   std::to_string(loop.instructions) + " | " + fixed(unit * ours, 2) + " | " +
                   fixed(unit * *byHand, 2) + " | " + fixed(ours / *byHand, 2) + " |\n";
  }

  /// Returns a loop's share of the peak of the level's best instruction for its products; nothing if no peak is known.
  std::optional<double> shareOf(const ModeledLoop &loop, const std::string &target, const std::string &processor) {
    const auto cycles = loop.cycles.find(processor);
    if (loop.flops <= 0 || cycles == loop.cycles.end())
      return std::nullopt;
    const std::string key = peakOf(loop.multiply) + " " + target + " " + processor;
    if (!peaks.contains(key))
      peaks[key] = bounds.cyclesPerUnit(peakOf(loop.multiply), target, processor);
    return peaks[key] ? std::optional(loop.flops * *peaks[key] / cycles->second) : std::nullopt;
  }

  /// Returns for each kernel the loop that multiplies most per iteration, not those of remaining rows or columns.
  static std::vector<const ModeledLoop *> mainProductsOf(const std::vector<ModeledLoop> &loops) {
    std::map<std::string, const ModeledLoop *> main;
    for (const ModeledLoop &loop : loops)
      if (loop.isProduct)
        if (const ModeledLoop *&largest = main[loop.kernel]; !largest || loop.flops > largest->flops)
          largest = &loop;
    std::vector<const ModeledLoop *> products;
    for (const auto &[kernel, loop] : main)
      products.push_back(loop);
    return products;
  }

  void addProducts(const std::string &target) {
    std::map<std::string, std::vector<double>> shares;
    size_t products = 0, all = 0, spills = 0, otherSpills = 0;
    for (const std::string &line : settings.lines) {
      std::fprintf(stderr, "%s: %s\n", target.c_str(), line.c_str());
      std::vector<ModeledLoop> loops;
      try {
        loops = modeledLoopsOf(line, target, settings.processors);
      } catch (const std::runtime_error &error) {
        refused += "\n`" + line + "` for " + target + ": " + error.what() + "\n";
        continue;
      }
      all += loops.size();
      for (const ModeledLoop &loop : loops) {
        (loop.isProduct ? spills : otherSpills) += loop.spills;
        if (loop.isProduct && loop.spills)
          spilled += "| " + target + " | " + std::to_string(loop.spills) + " | " + std::to_string(loop.instructions) +
                     " | " + line + ", " + loop.kernel + " |\n";
      }
      for (const ModeledLoop *loop : mainProductsOf(loops)) {
        ++products;
        addProduct(line, target, *loop, shares);
      }
    }
    report.spills += spills;
    for (auto &[processor, found] : shares)
      addSum(target, processor, found, products, all, spills, otherSpills);
  }

  /// Adds the shares of a loop, and a row for it; if an equal row exists, increments its count instead.
  void addProduct(const std::string &line, const std::string &target, const ModeledLoop &loop,
                  std::map<std::string, std::vector<double>> &shares) {
    std::string row = "| " + target + " | " + loop.multiply + " | " + fixed(loop.flops, 0) + " | " +
                      std::to_string(loop.instructions) + " |";
    for (const auto &[processor, cycles] : loop.cycles) {
      const std::optional<double> share = shareOf(loop, target, processor);
      shares[processor];
      if (share)
        shares[processor].push_back(*share);
      row += " " + processor + ": " + fixed(cycles, 1) + ", " + (share ? percent(*share) : "–") + ", " +
             percent(loop.busy.at(processor) / cycles) + ";";
    }
    auto [found, isNew] = rowOf.try_emplace(row, each.size());
    if (isNew)
      each.push_back({row, 0, line + ", " + loop.kernel});
    ++each[found->second].count;
  }

  std::string describeProducts() const {
    std::string text =
        "\n| target | products by | flops per iteration | instructions | cycles, share of the peak, share of cycles "
        "that products are begun in | loops | the first |\n|---|---|---|---|---|---|---|\n";
    for (const ProductRow &row : each)
      text += row.text + " | " + std::to_string(row.count) + " | " + row.first + " |\n";
    return text + refused;
  }

  void addSum(const std::string &target, const std::string &processor, std::vector<double> &found, size_t products,
              size_t all, size_t spills, size_t otherSpills) {
    std::sort(found.begin(), found.end());
    constexpr double enough = 0.85;
    const auto below = std::count_if(found.begin(), found.end(), [](double share) { return share < enough; });
    sums += "| " + target + " | " + processor + " | " + std::to_string(products) + " | " +
            (found.empty() ? "– | – | " : percent(found.front()) + " | " + percent(found[found.size() / 2]) + " | ") +
            std::to_string(below) + " | " + std::to_string(all) + " | " + std::to_string(spills) + " | " +
            std::to_string(otherSpills) + " |\n";
  }

  const ModelSettings &settings;
  Bounds bounds;
  std::map<std::string, std::optional<double>> peaks;
  ModelReport report;
  struct ProductRow {
    std::string text;
    size_t count;
    std::string first;
  };
  std::vector<ProductRow> each;
  std::map<std::string, size_t> rowOf; ///< row of each text in `each`
  std::string sums, refused, spilled;
};

} // namespace

ModelReport describeModel(const ModelSettings &settings) { return Tables(settings).describe(); }

} // namespace quern::bench
