//===- ModuleFuzzer.cpp - Functions of callers' modules -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A text is refused with a reason, or it is a module that becomes an artifact, and the same one as bytecode. Beside
// libFuzzer's own damage texts are changed so that most stay modules: numbers and words are exchanged, lines left out
// or repeated. Damaged bytecode is not for upstream's reader: test/Linalg gives it to a compiler in a process of its
// own.
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

/// The machine of the tests that need none: what it takes is the same everywhere.
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

/// Of a text that was read.
static std::string bytecodeOf(const std::string &text) {
  static mlir::MLIRContext *context = [] { // as long as the program
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

/// Where a run of characters of one kind begins and ends, near a place that is drawn; empty where there is none.
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

/// A number becomes another one, of those at which something ends or nearly so.
void changeNumber(std::string &text, Random &draw) {
  static const char *const numbers[] = {
      "0",   "1",   "2",    "3",     "4",          "7",          "8",
      "16",  "17",  "64",   "-1",    "2147483647", "4294967296", "9223372036854775807",
      "100", "512", "1000", "65536", "?"};
  const auto [begin, end] = drawRun(text, draw, isDigit);
  text.replace(begin, end - begin, numbers[draw() % std::size(numbers)]);
}

/// A word becomes one from elsewhere in the text, or another type or operation.
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
