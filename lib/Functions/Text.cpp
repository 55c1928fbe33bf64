//===- Text.cpp - Checks of text before it is parsed ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Functions/Text.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

using namespace quern;
using llvm::StringRef;

namespace {

/// Skips blanks and comments like MLIR's lexer.
void skipBlanks(StringRef &text) {
  const char blanks[] = " \t\n\r";
  for (text = text.ltrim(blanks); text.starts_with("//"); text = text.ltrim(blanks))
    text = text.drop_until([](char c) { return c == '\n'; });
}

bool takeCharacter(StringRef &text, char c) {
  skipBlanks(text);
  return text.consume_front(StringRef(&c, 1));
}

bool takeInteger(StringRef &text) {
  skipBlanks(text);
  text.consume_front("-");
  const StringRef digits = text.take_while(llvm::isDigit);
  text = text.drop_front(digits.size());
  return !digits.empty() && digits.size() < 19;
}

/// Returns true if the text after a keyword is not an assignment, or assigns a list of integers ("[1, 2]", "[]") or an
/// array attribute.
bool isListOrNone(StringRef text) {
  if (!takeCharacter(text, '='))
    return true;
  if (!takeCharacter(text, '['))
    return text.starts_with("array<");
  if (takeCharacter(text, ']'))
    return true;
  while (takeInteger(text))
    if (!takeCharacter(text, ','))
      return takeCharacter(text, ']');
  return false;
}

std::string placeIn(StringRef text, size_t at) {
  const StringRef before = text.take_front(at);
  const size_t lineStart = before.rfind('\n');
  return concat(before.count('\n') + 1, ":", at - (lineStart == StringRef::npos ? 0 : lineStart + 1) + 1);
}

/// Checks that the lists of linalg operations consist of integers. MLIR's parser would use a list that it could not
/// parse.
Result<void> checkLists(StringRef text) {
  for (StringRef keyword : {StringRef("dimensions"), StringRef("permutation")})
    for (size_t at = text.find(keyword); at != StringRef::npos; at = text.find(keyword, at + 1))
      if (!isListOrNone(text.drop_front(at + keyword.size())))
        return invalidArguments("the module is not valid MLIR at ", placeIn(text, at), ": '", keyword.str(),
                                "' is not followed by a list of integers");
  return {};
}

/// Checks that angle brackets after a linalg operation contain a dictionary, which MLIR's parser assumes.
Result<void> checkProperties(StringRef text) {
  constexpr StringRef prefix = "linalg.";
  for (size_t at = text.find(prefix); at != StringRef::npos; at = text.find(prefix, at + 1)) {
    if (at > 0 && (text[at - 1] == '#' || text[at - 1] == '!')) // an attribute or a type
      continue;
    StringRef behind = text.drop_front(at + prefix.size());
    behind = behind.drop_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
    if (takeCharacter(behind, '<') && !takeCharacter(behind, '{'))
      return invalidArguments("the module is not valid MLIR at ", placeIn(text, at),
                              ": '<' after an operation does not start ", "a dictionary");
  }
  return {};
}

constexpr int maxDepth = 200;

/// Scans text once, token by token, and refuses constructs on which the parser recurses, or for which its time is not
/// linear.
class Scanner {
public:
  explicit Scanner(StringRef text) : text(text) {}
  Result<void> run();

private:
  /// Size of text with expanded aliases.
  struct Extent {
    double tokens = 0; ///< number of tokens; inexact beyond 2^53, but refused long before
    int depth = 0;     ///< depth of nesting
  };

  /// Text between two brackets.
  struct Level {
    size_t operators = 0; ///< number of operators of an expression
    size_t dims = 0;      ///< number of dims of a shape
    size_t names = 0;     ///< number of dims or results of an affine map
    bool isOfMap = false;
  };

  Result<void> takeOne();
  void skipString();
  Result<void> takeKeyword();
  Result<void> takeAlias();
  Result<void> takeNumber();
  Result<void> takeDims(size_t count);
  Result<void> takeSeparator();
  Result<void> takeOperator();
  Result<void> takeBracket(char c, bool isOfMap);
  Result<void> use(const Extent &alias);
  void endDefinition();
  StringRef takeWhile(llvm::function_ref<bool(char)> isPart) {
    const StringRef taken = text.substr(at).take_while(isPart);
    at += taken.size();
    return taken;
  }
  template <typename... Parts> Error refused(const Parts &...parts) const {
    return invalidArguments("the module is not supported at ", placeIn(text, at), ": ", parts...);
  }
  bool isAt(StringRef what) const { return text.substr(at).starts_with(what); }

  StringRef text;
  size_t at = 0;
  int depth = 0;
  std::vector<Level> levels{Level()}; ///< one for each open bracket, and one for the top level
  llvm::StringMap<Extent> aliases;
  StringRef defined; ///< the alias that is being defined, "" between definitions
  Extent definition;
  double tokens = 0;   ///< number of tokens before `at`
  bool isMap = false;  ///< true if the last token was `affine_map` or `affine_set`
  bool isOpen = false; ///< true if a type or attribute may continue on the next line
};

void Scanner::skipString() {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) // strings end with the line
    at += text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n';
  ++at;
}

Result<void> Scanner::use(const Extent &alias) {
  constexpr double maxAliasTokens = 1e5, maxTokens = 1e8;
  definition.tokens += alias.tokens;
  definition.depth = std::max(definition.depth, depth + alias.depth);
  tokens += alias.tokens;
  if (depth + alias.depth > maxDepth)
    return refused("with expanded aliases it is nested more than ", maxDepth, " deep");
  if ((!defined.empty() && definition.tokens > maxAliasTokens) || tokens > maxTokens)
    return refused("its aliases expand to too many tokens: at most ", static_cast<int64_t>(maxAliasTokens),
                   " for one alias and ", static_cast<int64_t>(maxTokens), " for all are possible");
  return {};
}

void Scanner::endDefinition() {
  if (!defined.empty())
    aliases[defined] = definition;
  defined = {};
}

Result<void> Scanner::takeKeyword() {
  const StringRef name = takeWhile([](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; });
  isMap = name == "affine_map" || name == "affine_set";
  if (name.starts_with("x")) // after a `?`, as in ?x4xf32
    return takeDims(1);
  return name == "floordiv" || name == "ceildiv" || name == "mod" ? takeOperator() : Result<void>();
}

/// Reads the alias `#x` or `!x`. If `=` follows, the text defines the alias; otherwise it uses it.
Result<void> Scanner::takeAlias() {
  const size_t begin = at++;
  takeWhile([](char c) { return llvm::isAlnum(c) || StringRef("_$.-").contains(c); });
  const StringRef name = text.slice(begin, at);
  if (StringRef behind = text.substr(at); depth == 0 && takeCharacter(behind, '=')) {
    endDefinition();
    at = text.size() - behind.size();
    defined = name;
    definition = {};
    isOpen = true;
    return {};
  }
  auto known = aliases.find(name);
  return use(known == aliases.end() ? Extent() : known->second);
}

/// Limits the digits of an integer. The parser multiplies once per digit, in time that grows with the number's size.
Result<void> Scanner::takeNumber() {
  constexpr size_t maxDigits = 400;
  while (at < text.size() && llvm::isAlnum(text[at])) {
    const StringRef digits = takeWhile([](char c) { return llvm::isAlnum(c) && c != 'x'; }); // 0xff, 2x3xf32
    if (digits.size() > maxDigits)
      return refused("a number has more than ", maxDigits, " digits");
    QUERN_RETURN_IF_ERROR(takeDims(takeWhile([](char c) { return c == 'x'; }).size()));
  }
  return {};
}

/// Limits the dims of a shape. The time of verifying a shape grows with the square of their number.
Result<void> Scanner::takeDims(size_t count) {
  constexpr size_t maxShapeDims = 256;
  if ((levels.back().dims += count) > maxShapeDims)
    return refused("a shape has more than ", maxShapeDims, " dims");
  return {};
}

/// Limits the dims and results of an affine map. The time of reading them also grows with the square of their number.
Result<void> Scanner::takeSeparator() {
  constexpr size_t maxNames = 256;
  levels.back().operators = levels.back().dims = 0;
  if (levels.back().isOfMap && ++levels.back().names > maxNames)
    return refused("an affine map has more than ", maxNames, " dims or results");
  return {};
}

/// Limits the operators of an affine expression. The parser recurses on each of them.
Result<void> Scanner::takeOperator() {
  constexpr size_t maxOperators = 200;
  if (++levels.back().operators > maxOperators)
    return refused("an expression has more than ", maxOperators, " operators");
  return {};
}

Result<void> Scanner::takeBracket(char c, bool isOfMap) {
  ++at;
  if (StringRef("([{<").contains(c)) {
    ++depth;
    Level &inner = levels.emplace_back();
    inner.isOfMap = isOfMap || levels[levels.size() - 2].isOfMap;
    definition.depth = std::max(definition.depth, depth);
  } else if (depth > 0) {
    --depth;
    const Level inner = levels.back();
    levels.pop_back();
    levels.back().operators += c == ')' ? inner.operators : 0; // part of an expression
  }
  if (depth > maxDepth)
    return invalidArguments("the module is nested more than ", maxDepth, " deep");
  return {};
}

Result<void> Scanner::takeOne() {
  const char c = text[at];
  definition.tokens += 1;
  tokens += 1;
  for (StringRef arrow : {StringRef("->"), StringRef(">="), StringRef("<=")})
    if (isAt(arrow)) {
      at += arrow.size();
      isOpen = true;
      return {};
    }
  isOpen = StringRef(",:=").contains(c);
  const bool followsMap = std::exchange(isMap, false);
  if (StringRef("([{<)]}>").contains(c))
    return takeBracket(c, followsMap);
  if (c == '#' || c == '!')
    return takeAlias();
  if (llvm::isAlpha(c) || c == '_')
    return takeKeyword();
  if (llvm::isDigit(c))
    return takeNumber();
  if (c == '"') {
    skipString();
    return {};
  }
  ++at;
  if (StringRef("%@^").contains(c))
    takeWhile([](char part) { return llvm::isAlnum(part) || StringRef("_$.-").contains(part); });
  if (c == ',' || c == ':')
    return takeSeparator();
  return StringRef("+-*").contains(c) ? takeOperator() : Result<void>();
}

Result<void> Scanner::run() {
  while (at < text.size()) {
    if (isAt("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (llvm::isSpace(text[at])) {
      if (text[at++] == '\n' && depth == 0 && !isOpen)
        endDefinition();
    } else if (Result<void> ok = takeOne(); !ok) {
      return ok;
    }
  }
  return {};
}

Result<void> checkSizes(StringRef text) { return Scanner(text).run(); }

} // namespace

Result<void> functions::checkText(std::string_view text) {
  const StringRef given(text.data(), text.size());
  for (auto check : {checkSizes, checkLists, checkProperties})
    QUERN_RETURN_IF_ERROR(check(given));
  return {};
}
