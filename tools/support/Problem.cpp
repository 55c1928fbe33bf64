//===- Problem.cpp - Problems from lines and files ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The parser places its own carets. Verification refers to fields and not to columns, so its messages are matched to
// the words of the line: the caret is under the field that a message names first.
//
//===----------------------------------------------------------------------===//
#include "Problem.h"

#include "Command.h"
#include "Kernel.h"
#include "Output.h"

#include "Primitives/Rnn/Shape.h"

#include <algorithm>

namespace quern {
namespace {

/// One `key=value` (or bare word) of a line.
struct Word {
  size_t column;
  std::string_view key, value;
};

std::vector<Word> wordsOf(std::string_view line) {
  std::vector<Word> words;
  for (size_t start = 0; start < line.size();) {
    start = line.find_first_not_of(" \t", start);
    if (start == line.npos)
      break;
    size_t end = std::min(line.find_first_of(" \t", start), line.size());
    std::string_view word = line.substr(start, end - start);
    size_t equals = word.find('=');
    words.push_back(
        {start, word.substr(0, equals), equals == word.npos ? std::string_view() : word.substr(equals + 1)});
    start = end;
  }
  return words;
}

bool isNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Returns the first position of `name` in `message` as a whole word; npos if there is none.
size_t findName(std::string_view message, std::string_view name) {
  for (size_t at = message.find(name); at != message.npos; at = message.find(name, at + 1)) {
    bool begins = at == 0 || !isNameCharacter(message[at - 1]);
    bool ends = at + name.size() == message.size() || !isNameCharacter(message[at + name.size()]);
    if (begins && ends)
      return at;
  }
  return message.npos;
}

/// Returns the position where a message names a word of the line. Messages write "post-ops" for post_ops and "zero
/// points" for zero_points; the bare word after the primitive is the propagation kind.
size_t findWord(std::string_view message, const Word &word) {
  std::string name(word.value.empty() ? "propagation" : word.key.substr(word.key.rfind('.') + 1));
  size_t best = message.npos;
  for (char separator : {'_', '-', ' '}) {
    std::replace_if(name.begin(), name.end(), [](char c) { return !isNameCharacter(c) || c == '_'; }, separator);
    best = std::min(best, findName(message, name));
  }
  return best;
}

} // namespace

std::string withCaret(std::string_view message, std::string_view line) {
  std::string text(message);
  if (message.find('\n') != message.npos)
    return text; // the parser has placed its own caret
  size_t best = message.npos, column = 0, length = 0;
  bool isFirst = true;
  for (const Word &word : wordsOf(line)) {
    // The first word is the primitive, with which every message starts.
    size_t at = isFirst ? message.npos : findWord(message, word);
    isFirst = false;
    if (at >= best)
      continue;
    best = at;
    bool hasValue = !word.value.empty();
    column = word.column + (hasValue ? word.key.size() + 1 : 0);
    length = hasValue ? word.value.size() : word.key.size();
  }
  if (best == message.npos)
    return text;
  return concat(text, "\n  ", line, "\n  ", std::string(column, ' '), '^',
                std::string(length > 1 ? length - 1 : 0, '~'));
}

int64_t ParsedProblem::bytesMoved() const {
  int64_t bytes = 0;
  for (const ArgumentInfo &argument : verified.arguments)
    bytes += argument.desc.isZero() || argument.desc.hasRuntimeDims()
                 ? 0
                 : argument.desc.elements() * bitsOf(argument.desc.dataType) / 8;
  return bytes;
}

namespace {

int64_t operationsOf(const GemmDesc &gemm) { return 2 * gemm.src.dims[0] * gemm.src.dims[1] * gemm.dst.dims[1]; }

/// Backward has two products for each product of forward: one for the gradient of each factor.
int64_t operationsOf(const RnnDesc &rnn) {
  const auto shape = rnn::Shape::of(rnn);
  const int64_t gates = shape.gates * shape.dhc * (shape.slc + shape.sic);
  const int64_t projection = rnn.weightsProjection.isZero() ? 0 : shape.dhc * shape.dic;
  const int64_t cells = shape.layers * shape.directions * shape.steps * shape.batch;
  return 2 * cells * (gates + projection) * (rnn::isBackward(rnn) ? 2 : 1);
}

} // namespace

int64_t ParsedProblem::productOperations() const {
  for (const ArgumentInfo &argument : verified.arguments)
    if (argument.desc.hasRuntimeDims())
      return 0;
  if (const auto *gemm = std::get_if<GemmDesc>(&desc().op))
    return operationsOf(*gemm);
  const auto *boxed = std::get_if<Boxed<RnnDesc>>(&desc().op);
  return boxed && (*boxed)->seqLengths.isZero() ? operationsOf(**boxed) : 0;
}

bool ParsedProblem::wasAny(std::string_view tensor) const {
  bool isAny = false;
  auto find = [&]<typename T>(const char *name, const T &value) {
    if constexpr (std::is_same_v<T, TensorDesc>)
      isAny = isAny || (tensor == name && value.isAny());
  };
  std::visit([&]<typename Op>(const Op &op) { Op::visitFields(op, find); }, given.op);
  for (size_t i = 0; i < given.attr.postOps.size(); ++i) {
    std::string prefix = concat("post", i, ".src_");
    isAny = isAny || (tensor == prefix + "1" && given.attr.postOps[i].src1.isAny()) ||
            (tensor == prefix + "2" && given.attr.postOps[i].src2.isAny());
  }
  return isAny;
}

Result<ParsedProblem> readProblem(std::string_view line, const Target &target) {
  QUERN_ASSIGN_OR_RETURN(PrimitiveDesc desc, PrimitiveDesc::parse(line));
  Result<VerifiedProblem> verified = verify(desc, target);
  if (!verified)
    return Error{verified.error().status, withCaret(verified.error().message, line)};
  ParsedProblem problem{target, std::move(desc), std::move(*verified), {}};
  problem.text = problem.desc().text();
  return problem;
}

Result<ParsedProblem> readProblem(std::string_view line, const std::string &target) {
  Result<Target> parsed = Target::parse(target);
  return parsed ? readProblem(line, *parsed) : Result<ParsedProblem>(parsed.takeError());
}

Result<PrimitiveDesc> readMlirFile(const std::string &file, bool allowNaive) {
  const size_t colon = file.rfind(':');
  const bool hasFunction = colon != file.npos && file.find('/', colon) == file.npos;
  PrimitiveDesc given;
  auto &mlir = given.op.emplace<MlirDesc>();
  QUERN_ASSIGN_OR_RETURN(std::string bytes, readFile(file.substr(0, hasFunction ? colon : file.npos)));
  if (bytes.empty() || bytes.size() > maxMlirBytes)
    return invalidArguments(file, ": the module has ", bytes.size(), " bytes; 1 to ", maxMlirBytes, " are possible");
  mlir.module = std::move(bytes);
  mlir.function = hasFunction ? file.substr(colon + 1) : "";
  given.attr.naive = allowNaive;
  return given;
}

Result<std::string> lineOfMlir(const std::string &file, bool allowNaive) {
  QUERN_ASSIGN_OR_RETURN(PrimitiveDesc given, readMlirFile(file, allowNaive));
  QUERN_ASSIGN_OR_RETURN(Device cpu, Device::open(quern_cpu));
  quern_primitive_desc_t desc = nullptr;
  if (Result<void> made = checked(quern_primitive_desc_create_from_text(&desc, cpu.engine(), given.text().c_str()));
      !made)
    return Error{made.error().status, concat(file, ": ", made.error().message)};
  const Owned<quern_primitive_desc_t, quern_primitive_desc_destroy> owned(desc);
  const char *line = nullptr;
  QUERN_RETURN_IF_ERROR(checked(quern_primitive_desc_get_text(desc, &line)));
  return std::string(line);
}

Result<void> addMlir(std::vector<std::string> &lines, const std::vector<std::string> &functions, bool allowNaive) {
  for (const std::string &function : functions) {
    QUERN_ASSIGN_OR_RETURN(std::string line, lineOfMlir(function, allowNaive));
    lines.push_back(std::move(line));
  }
  return {};
}

void GivenProblem::addTo(Command &command) {
  command.option("LINE", line, "A problem in text form");
  command.option("--mlir", mlir, "FILE[:function]: a function of a module in MLIR, instead of a line");
  command.flag("--naive", allowNaive, "Lower operations that no recipe supports to naive loops");
}

Result<std::string> GivenProblem::read() const {
  if (line.empty() == mlir.empty())
    return invalidArguments(line.empty() ? "no problem is given: a line, or --mlir=FILE"
                                         : "both a line and --mlir are given; only one is possible");
  if (mlir.empty() && allowNaive)
    return invalidArguments("--naive is for functions in MLIR, with --mlir=FILE");
  return mlir.empty() ? Result<std::string>(line) : lineOfMlir(mlir, allowNaive);
}

std::string oracleOf(const PrimitiveDesc &desc, bool hasErrors) {
  PrimitiveDesc oracle = desc;
  auto &mlir = std::get<MlirDesc>(oracle.op);
  mlir.oracle = true;
  for (size_t i = 0, count = mlir.args.size(); hasErrors && i < count; ++i)
    if (mlir.uses[i] != 'r') {
      TensorDesc errors = mlir.args[i];
      errors.dataType = DataType::F64;
      mlir.args.insert(mlir.args.end(), 2, errors);
      mlir.uses += "uu";
    }
  oracle.attr = {};
  return oracle.text();
}

/// Returns the line of a function with `?` as the value of each number that is known only at execution.
static std::string withOpenNumbers(std::string_view line) {
  std::string result(line);
  for (const Word &word : wordsOf(line.starts_with("mlir ") ? line : std::string_view()))
    if (const auto numbers = MlirNumber::parse(word.value); word.key == "numbers" && numbers) {
      std::string open;
      for (const MlirNumber &number : *numbers)
        open +=
            concat(open.empty() ? "" : ",", number.argument, ":", number.value ? std::to_string(*number.value) : "?");
      result.replace(word.column + word.key.size() + 1, word.value.size(), open);
    }
  return result;
}

Result<std::string> withSizes(std::string_view line, const std::vector<int64_t> &sizes) {
  const std::string open = withOpenNumbers(line);
  size_t wanted = static_cast<size_t>(std::count(open.begin(), open.end(), '?')), used = 0;
  if (wanted == 0 || (sizes.size() != 1 && sizes.size() != wanted))
    return invalidArguments("the line has ", wanted, " open sizes; ", sizes.size(), " are given");
  std::string result;
  for (char c : open) {
    if (c == '?')
      result += std::to_string(sizes[sizes.size() == 1 ? 0 : used++]);
    else
      result += c;
  }
  if (line.starts_with("mlir ")) // relations between sizes do not apply to known sizes
    for (const Word &word : wordsOf(result))
      if (word.key == "sizes")
        return result.substr(0, word.column) +
               result.substr(std::min(word.column + word.value.size() + 7, result.size()));
  return result;
}

Result<std::vector<std::string>> readProblemFile(const std::string &path) {
  QUERN_ASSIGN_OR_RETURN(std::string bytes, readFile(path));
  std::vector<std::string> lines;
  std::istringstream stream(bytes);
  for (std::string line; std::getline(stream, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    size_t first = line.find_first_not_of(" \t\r");
    if (first != line.npos)
      lines.push_back(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
  }
  return lines;
}

} // namespace quern
