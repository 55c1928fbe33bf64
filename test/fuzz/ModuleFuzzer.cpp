//===- ModuleFuzzer.cpp - Functions of callers' modules -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A text is either refused with a reason, or it is a module that compiles to an artifact. In the second case its
// bytecode must give the same problem. Besides libFuzzer's own mutations, a custom mutator makes changes after which
// most texts are still modules: it exchanges numbers and words, and removes or repeats lines. Damaged bytecode is not
// tested here, because the reader of MLIR may crash on it: test/Linalg passes it to a compiler in a separate process.
//
//===----------------------------------------------------------------------===//
#include "Compiler/Compiler.h"
#include "Compiler/Functions.h"
#include "Functions/Functions.h"

#include "quern-compiler/Bridge.h"
#include "quern-compiler/Compiler.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <random>

using namespace quern;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

static void require(bool holds) {
  if (!holds)
    __builtin_trap();
}

/// The target that all inputs are read and compiled for. Which modules are accepted does not depend on the target.
static const Target &target() {
  static const Target avx2 = *Target::parse("avx2");
  return avx2;
}

static Result<std::string> read(std::string module, bool allowNaive) {
  PrimitiveDesc given;
  given.op.emplace<MlirDesc>().module = std::move(module);
  given.attr.naive = allowNaive;
  return readMlir(given, target());
}

/// Returns the bytecode of a text that was read before.
static std::string bytecodeOf(const std::string &text) {
  static mlir::MLIRContext *context = [] { // never destroyed
    mlir::DialectRegistry registry;
    compiler::registerDialects(registry);
    functions::registerDialects(registry);
    return new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
  }();
  mlir::ScopedDiagnosticHandler silence(context, [](mlir::Diagnostic &) { return mlir::success(); });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(context));
  require(static_cast<bool>(module));
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  require(mlir::succeeded(mlir::writeBytecodeToFile(*module, os)));
  return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  if (text.starts_with("ML\xefR"))
    return -1;
  const bool allowNaive = size % 2 != 0;
  const Result<std::string> given = read(text, allowNaive);
  if (!given) {
    require(!given.error().message.empty() && given.error().message.find('\n') == std::string::npos);
    require(given.error().status == Status::InvalidArguments || given.error().status == Status::Unimplemented);
    return 0;
  }
  const Result<std::string> again = read(bytecodeOf(text), allowNaive);
  require(again && *again == *given);
  Result<PrimitiveDesc> desc = PrimitiveDesc::fromBytes(*given);
  require(desc && PrimitiveDesc::parse(desc->text()));
  Result<std::string> artifact = compileProblem(*desc, target(), QUERN_COMPILER_ARTIFACT, true);
  require(artifact || artifact.error().status == Status::Unimplemented);
  return 0;
}

namespace {

using Random = std::minstd_rand;

/// Returns the begin and the end of a run of characters of one kind, searched from a random position. The run is empty
/// if no such character follows.
template <typename IsKind> std::pair<size_t, size_t> drawRun(const std::string &text, Random &draw, IsKind isKind) {
  size_t begin = draw() % text.size();
  while (begin < text.size() && !isKind(text[begin]))
    ++begin;
  size_t end = begin;
  while (end < text.size() && isKind(text[end]))
    ++end;
  while (begin > 0 && begin < end && isKind(text[begin - 1]))
    --begin;
  return {begin, end};
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) || c == '_' || c == '.'; }
bool isLine(char c) { return c != '\n'; }

/// Replaces a number by one that is at or near a limit.
void changeNumber(std::string &text, Random &draw) {
  static const char *const numbers[] = {
      "0",   "1",   "2",    "3",     "4",          "7",          "8",
      "16",  "17",  "64",   "-1",    "2147483647", "4294967296", "9223372036854775807",
      "100", "512", "1000", "65536", "?"};
  const auto [begin, end] = drawRun(text, draw, isDigit);
  text.replace(begin, end - begin, numbers[draw() % std::size(numbers)]);
}

/// Replaces a word by another word of the text, or by the name of a type or an operation.
void changeWord(std::string &text, Random &draw) {
  static const char *const words[] = {"f32",
                                      "f16",
                                      "bf16",
                                      "f64",
                                      "i8",
                                      "i32",
                                      "i1",
                                      "index",
                                      "tensor",
                                      "memref",
                                      "vector",
                                      "arith.addf",
                                      "arith.mulf",
                                      "arith.divf",
                                      "arith.maximumf",
                                      "parallel",
                                      "reduction",
                                      "linalg.matmul",
                                      "linalg.generic",
                                      "math.exp",
                                      "complex",
                                      "tuple",
                                      "none",
                                      "strided",
                                      "dense"};
  const auto [begin, end] = drawRun(text, draw, isWord);
  const auto [from, to] = drawRun(text, draw, isWord);
  const std::string other = draw() % 2 ? text.substr(from, to - from) : words[draw() % std::size(words)];
  text.replace(begin, end - begin, other);
}

void changeLines(std::string &text, Random &draw) {
  const auto [begin, end] = drawRun(text, draw, isLine);
  const std::string line = text.substr(begin, end - begin) + '\n';
  if (draw() % 2)
    text.insert(begin, line);
  else
    text.erase(begin, line.size());
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  Random draw(seed);
  std::string text(reinterpret_cast<const char *>(data), size);
  const unsigned kind = draw() % 8;
  if (kind < 2 || size == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned i = 0, count = 1 + draw() % 3; i < count && !text.empty(); ++i)
    kind < 4 ? changeNumber(text, draw) : kind < 6 ? changeWord(text, draw) : changeLines(text, draw);
  size = std::min(text.size(), maxSize);
  std::copy_n(text.data(), size, data);
  return size;
}
