//===- Text.cpp - Text that upstream's parser survives -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Functions/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace quern;
using llvm::StringRef;

namespace {

/// Takes what MLIR's lexer passes over.
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

/// Whether nothing is assigned to a keyword, which is another matter, or what is begins as a list of integers, "[1, 2]"
/// or "[]", or as the attribute that holds one.
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

/// The parser takes apart a list that it could not read.
Result<void> checkLists(StringRef text) {
  for (StringRef keyword : {StringRef("dimensions"), StringRef("permutation")})
    for (size_t at = text.find(keyword); at != StringRef::npos; at = text.find(keyword, at + 1))
      if (!isListOrNone(text.drop_front(at + keyword.size())))
        return invalidArguments("the module is not valid MLIR at ", placeIn(text, at), ": what follows '",
                                keyword.str(), "' is no list of integers");
  return {};
}

/// The parser takes what stands in angle brackets behind a linalg operation for a dictionary, whatever it is.
Result<void> checkProperties(StringRef text) {
  constexpr StringRef prefix = "linalg.";
  for (size_t at = text.find(prefix); at != StringRef::npos; at = text.find(prefix, at + 1)) {
    if (at > 0 && (text[at - 1] == '#' || text[at - 1] == '!')) // an attribute or a type
      continue;
    StringRef behind = text.drop_front(at + prefix.size());
    behind = behind.drop_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
    if (takeCharacter(behind, '<') && !takeCharacter(behind, '{'))
      return invalidArguments("the module is not valid MLIR at ", placeIn(text, at),
                              ": '<' behind an operation begins ", "no dictionary");
  }
  return {};
}

/// It recurs where text is nested.
Result<void> checkNesting(StringRef text) {
  constexpr int maxDepth = 200;
  int depth = 0;
  bool isInString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (isInString && c == '\\')
      ++i;
    else if (c == '"')
      isInString = !isInString;
    else if (!isInString && StringRef("([{<").contains(c))
      ++depth;
    else if (!isInString && StringRef(")]}>").contains(c))
      depth = std::max(depth - 1, 0);
    else if (c == '\n')
      isInString = false; // no string of MLIR goes on in the next line
    if (depth > maxDepth)
      return invalidArguments("the module is nested more than ", maxDepth, " deep");
  }
  return {};
}

} // namespace

Result<void> functions::checkText(std::string_view text) {
  const StringRef given(text.data(), text.size());
  for (auto check : {checkNesting, checkLists, checkProperties})
    if (Result<void> ok = check(given); !ok)
      return ok;
  return {};
}
