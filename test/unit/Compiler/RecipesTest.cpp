//===- RecipesTest.cpp - The recipe of each problem -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that the functions of test/Linalg/Corpus and the problems of the benchmarks have the recipes of Recipes.txt: a
// line for each, with the recipes of its kernels' problems in order.
//
//===----------------------------------------------------------------------===//
#include "Compiler/Functions.h"
#include "Compiler/Stages.h"
#include "Desc/PrimitiveDesc.h"
#include "IR/Naive.h"
#include "Primitives/Emitters.h"
#include "Primitives/Registry.h"
#include "Transforms/Packed/PackedElements.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace quern {
namespace {

const std::filesystem::path tests = QUERN_SOURCE_DIR "/test";

std::string contentsOf(const std::filesystem::path &path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Returns the descriptor of a line; `mlir=FILE:FUNCTION` is relative to test/problems.
Result<PrimitiveDesc> descOf(const std::string &line, const Target &target) {
  std::smatch parts;
  if (!std::regex_match(line, parts, std::regex("mlir=(.*):(.*)")))
    return PrimitiveDesc::parse(line);
  PrimitiveDesc given;
  auto &mlir = given.op.emplace<MlirDesc>();
  mlir.module = contentsOf(tests / "problems" / parts[1].str());
  mlir.function = parts[2];
  QUERN_ASSIGN_OR_RETURN(std::string bytes, readMlir(given, target));
  return PrimitiveDesc::fromBytes(bytes);
}

std::string recipeOf(mlir::func::FuncOp problem, const Backend &backend, const Target &target) {
  if (problem->hasAttr(attr::naive))
    return "naive";
  std::string whyNot;
  const MatchPtr match = backend.match(problem, target, whyNot);
  if (!match)
    return "none";
  const bool isBatch = static_cast<bool>(match->plans().front().field(nameOf(PlanField::Times)));
  return (isBatch ? "batch" : stringifyRecipe(match->recipe).str()) + (match->isFallback() ? " (fallback)" : "");
}

/// Returns the recipes of a line's problems, each with the number of consecutive problems that have it.
Result<std::string> recipesOf(const std::string &line, const Target &target) {
  QUERN_ASSIGN_OR_RETURN(PrimitiveDesc desc, descOf(line, target));
  QUERN_ASSIGN_OR_RETURN(VerifiedProblem problem, verify(desc, target));
  ContextLease lease;
  const Backend &backend = lease->backendFor(target);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&lease->context));
  std::string text, whyNot;
  if (desc.kind() == PrimitiveKind::Mlir) {
    QUERN_RETURN_IF_ERROR(emitMlir(*module, problem, backend, target, text));
  } else if (failed(emitProblem(*module, problem))) {
    return internalError("not emitted");
  }
  pairElements(*module);
  if (failed(unpackElements(*module, whyNot)))
    return internalError(whyNot);
  std::vector<std::pair<std::string, int>> recipes;
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    const std::string recipe = recipeOf(function, backend, target);
    if (recipes.empty() || recipes.back().first != recipe)
      recipes.emplace_back(recipe, 0);
    ++recipes.back().second;
  }
  std::string all;
  for (const auto &[recipe, times] : recipes)
    all += (all.empty() ? "" : ", ") + (times > 1 ? std::to_string(times) + " " : "") + recipe;
  return all;
}

/// Returns the lines of the benchmarks and the corpus's functions, each once.
std::set<std::string> allLines() {
  std::set<std::string> lines;
  for (const auto &entry : std::filesystem::directory_iterator(tests / "problems")) {
    if (!entry.path().string().ends_with("-bench.desc"))
      continue;
    std::istringstream file(contentsOf(entry.path()));
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line.front() != '#')
        lines.insert(line.substr(0, line.find(" = ")));
  }
  const std::regex function("\nfunc\\.func @(\\w+)");
  for (const auto &entry : std::filesystem::directory_iterator(tests / "Linalg" / "Corpus")) {
    if (entry.path().extension() != ".mlir")
      continue;
    const std::string text = contentsOf(entry.path());
    for (std::sregex_iterator found(text.begin(), text.end(), function), end; found != end; ++found)
      lines.insert("mlir=../Linalg/Corpus/" + entry.path().filename().string() + ":" + (*found)[1].str());
  }
  return lines;
}

TEST(Recipes, AreThoseOfTheTable) {
  const Target target = *Target::parse("avx2");
  std::string table;
  for (const std::string &line : allLines()) {
    Result<std::string> recipes = recipesOf(line, target);
    table += (recipes ? *recipes : "error: " + recipes.error().message) + ": " + line + "\n";
  }
  const std::string expected = contentsOf(tests / "unit" / "Compiler" / "Recipes.txt");
  if (table == expected)
    return;
  const std::string actual = testing::TempDir() + "Recipes.txt";
  std::ofstream(actual) << table;
  std::set<std::string> known;
  std::istringstream lines(expected), actualLines(table);
  for (std::string line; std::getline(lines, line);)
    known.insert(line);
  for (std::string line; std::getline(actualLines, line);)
    EXPECT_TRUE(known.count(line)) << line;
  FAIL() << "the table of these recipes is " << actual;
}

} // namespace
} // namespace quern
