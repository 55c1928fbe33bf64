//===- TextParser.cpp - Parser of problems in the text form ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The parser derives from visitFields(), like the printer in TextForm.cpp. It reads the line once, from left to right.
// Recursion is limited by the nesting of structs, and lists by fixed limits or the length of the line.
//
//===----------------------------------------------------------------------===//
#include "Desc/Text/TextForm.h"
#include "Desc/Text/TextNames.h"
#include "Desc/Text/TextReader.h"

#include <set>

namespace quern {
namespace {

template <typename Struct> bool readFields(TextReader &in, Struct &value);

template <typename Enum> bool readEnum(TextReader &in, Enum &value, std::string_view what) {
  size_t start = in.position();
  std::string_view word = in.takeWord();
  std::optional<Enum> found = fromName<Enum>(word);
  if (!found)
    return in.failAt(start, what, " is '", word.substr(0, 40), "'; known are ", namesOf<Enum>());
  value = *found;
  return true;
}

template <typename Struct> bool readAlg(TextReader &in, Alg &value, std::string_view what) {
  size_t start = in.position();
  std::string_view word = in.takeWord();
  std::optional<Alg> found = word.size() < 64 ? algFromName<Struct>(word) : std::nullopt;
  if (!found) {
    std::string known = namesOf<Alg>(algFamilies<Struct>[0]);
    if (what == "cell")
      known = "rnn, lstm, gru, lbr_gru, augru, lbr_augru";
    else if (std::is_same_v<Struct, PostOp>)
      known += ", " + namesOf<Alg>("binary_");
    return in.failAt(start, what, " is '", word.substr(0, 40), "'; known are ", known);
  }
  value = *found;
  return true;
}

bool readBool(TextReader &in, bool &value, std::string_view what) {
  size_t start = in.position();
  std::string_view word = in.takeWord();
  value = word == "true" || word == "1";
  return value || word == "false" || word == "0" ||
         in.failAt(start, what, " is '", word.substr(0, 40), "'; it must be true or false");
}

/// Reads to the end of the field.
bool readString(TextReader &in, std::string &value, std::string_view what) {
  constexpr std::string_view digits = "0123456789abcdef";
  value.clear();
  while (!in.atEnd()) {
    value += in.takeWhile(isPlainByte);
    const size_t start = in.position();
    if (in.atEnd())
      break;
    if (!in.take('%'))
      return in.fail(what, " has an unprintable character; it must be written as % and two hexadecimal digits");
    size_t byte = 0;
    for (int i = 0; i < 2; ++i) {
      const size_t digit = in.atEnd() ? digits.npos : digits.find(in.peek());
      if (digit == digits.npos)
        return in.failAt(start, what, " has a % without two hexadecimal digits (0 to 9, a to f)");
      in.take(in.peek());
      byte = byte << 4 | digit;
    }
    if (isPlainByte(static_cast<char>(byte)))
      return in.failAt(start, what, " has a % escape for a character that must not be escaped");
    value += static_cast<char>(byte);
  }
  return true;
}

bool readArgument(TextReader &in, int32_t &argument) {
  size_t start = in.position();
  int32_t base = 0;
  std::string_view word = in.takeWord();
  if (word.starts_with("post")) {
    size_t dot = word.find('.');
    in.setPosition(start + 4);
    int32_t index = 0;
    if (dot == word.npos || !in.readInteger(index, "number of the post-op") || index < 0 ||
        index >= static_cast<int32_t>(maxPostOps) || !in.take('.'))
      return in.failAt(start, "'", word.substr(0, 40), "' is not an argument of a post-op from post0 to post",
                       maxPostOps - 1, ", such as post0.src_1");
    base = postOpArgumentBase * (index + 1);
    word = in.takeWord();
  }
  if (auto plain = plainArgumentFromName(word)) {
    argument = base | *plain;
    return true;
  }
  in.setPosition(start);
  bool isNumber = base == 0 && word.find_first_not_of("0123456789") == word.npos && !word.empty();
  if (isNumber)
    return in.readInteger(argument, "argument");
  return in.failAt(start, "'", in.ahead(), "' is not an argument: a name (src, dst, weights, ...) or a number");
}

bool readItem(TextReader &in, std::vector<PostOp> &ops) {
  size_t start = in.position();
  if (ops.size() == maxPostOps)
    return in.fail("more than ", maxPostOps, " post-ops are given");
  PostOp &op = ops.emplace_back();
  if (!readEnum(in, op.kind, "post-op") || !readFields(in, op))
    return false;
  Result<void> valid = op.validate();
  return valid || in.failAt(start, valid.error().message);
}

bool readItem(TextReader &in, std::map<int32_t, QuantParams> &all) {
  size_t start = in.position();
  int32_t argument = 0;
  if (!readArgument(in, argument))
    return false;
  auto [at, isNew] = all.try_emplace(argument);
  return isNew ? readFields(in, at->second)
               : in.failAt(start, "argument ", nameOfArgument(argument), " is given twice");
}

bool readItem(TextReader &in, std::vector<float> &values) { return in.readFloat(values.emplace_back(), "scale"); }

bool readItem(TextReader &in, std::vector<TensorDesc> &tensors) {
  if (tensors.size() == maxSources)
    return in.fail("more than ", maxSources, " tensors are given");
  return readTensor(in, tensors.emplace_back());
}

bool readItem(TextReader &in, std::vector<int64_t> &values) {
  if (values.size() == maxDims)
    return in.fail("more than ", maxDims, " sizes are given");
  return in.readInteger(values.emplace_back(), "size");
}

template <typename Struct, typename T> bool readValue(TextReader &in, T &value, std::string_view what) {
  if constexpr (std::is_same_v<T, bool>) {
    return readBool(in, value, what);
  } else if constexpr (std::is_same_v<T, Alg>) {
    return readAlg<Struct>(in, value, what);
  } else if constexpr (std::is_enum_v<T>) {
    return readEnum(in, value, what);
  } else if constexpr (std::is_integral_v<T>) {
    return in.readInteger(value, what);
  } else if constexpr (std::is_same_v<T, float>) {
    return in.readFloat(value, what);
  } else if constexpr (std::is_same_v<T, TensorDesc>) {
    return readTensor(in, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return readString(in, value, what);
  } else {
    constexpr char separator = std::is_same_v<T, std::vector<int64_t>> ? 'x' : ',';
    do
      if (!readItem(in, value))
        return false;
    while (in.take(separator));
    return true;
  }
}

/// Visits a struct and reads the field `name`; "outer.inner" descends into a nested struct.
template <typename Struct> struct FieldAssigner {
  TextReader &in;
  std::string_view name;
  bool isFound = false;
  template <typename T> void operator()(const char *field, T &value) {
    if (isFound)
      return;
    if constexpr (isStruct<T>) {
      std::string_view outer = field;
      if (name.starts_with(outer) && name.size() > outer.size() && name[outer.size()] == '.') {
        FieldAssigner<T> nested{in, name.substr(outer.size() + 1)};
        T::visitFields(value, nested);
        isFound = nested.isFound;
      }
    } else if (name == field) {
      isFound = true;
      readValue<Struct>(in, value, name);
    }
  }
};

struct FieldNames {
  std::string all, prefix;
  template <typename T> void operator()(const char *name, const T &value) {
    if constexpr (isStruct<T>) {
      FieldNames nested{{}, prefix + name + "."};
      T::visitFields(value, nested);
      all += (all.empty() ? "" : ", ") + nested.all;
    } else if constexpr (!std::is_same_v<T, PostOp::Kind>) {
      all += (all.empty() ? "" : ", ") + prefix + name;
    }
  }
};

/// Reads the value of field `name` at the cursor. `place` is the position of the name.
template <typename Struct>
bool assign(TextReader &in, Struct &value, std::string_view name, size_t place, std::string_view owner,
            std::string_view prefix) {
  FieldAssigner<Struct> assigner{in, name};
  Struct::visitFields(value, assigner);
  if (assigner.isFound || !in.ok())
    return in.ok();
  FieldNames names{{}, std::string(prefix)};
  Struct::visitFields(value, names);
  return in.failAt(place, owner, " has no field '", std::string(prefix), name.substr(0, 40), "'; known are ",
                   names.all);
}

/// Reads "(field=value,...)" or nothing.
template <typename Struct> bool readFields(TextReader &in, Struct &value) {
  if (!in.take('('))
    return true;
  std::set<std::string_view> seen;
  do {
    size_t place = in.position();
    std::string_view name = in.takeWord();
    if (!in.take('='))
      return in.failAt(place, "'", name.substr(0, 40), "' is not field=value");
    if (name == "kind" || !seen.insert(name).second)
      return in.failAt(place, "field '", name.substr(0, 40),
                       name == "kind" ? "' is given by the name of the item" : "' is given twice");
    if (!assign(in, value, name, place, "this item", ""))
      return false;
  } while (in.take(','));
  return in.take(')') || in.fail("')' is missing");
}

constexpr bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Splits the line at white space and reads the tokens in order.
class LineParser {
public:
  explicit LineParser(std::string_view line) : line(line), in(line) {}

  Result<PrimitiveDesc> run() {
    if (!readKind())
      return in.error();
    while (nextToken())
      if (!readToken())
        return in.error();
    return std::move(desc);
  }

private:
  bool nextToken() {
    begin = end;
    while (begin < line.size() && isSpace(line[begin]))
      ++begin;
    end = begin;
    while (end < line.size() && !isSpace(line[end]))
      ++end;
    in.setRange(begin, end);
    return begin < end;
  }

  bool readKind() {
    if (!nextToken())
      return in.failAt(0, "the line is empty; it starts with one of ", namesOf<PrimitiveKind>());
    PrimitiveKind kind = PrimitiveKind::Undef;
    if (!readEnum(in, kind, "primitive"))
      return false;
    if (!in.atEnd())
      return in.fail("'", in.ahead(), "' follows the name of the primitive");
    return desc.setKind(kind) ||
           in.failAt(begin, "primitive is '", nameOf(kind), "'; known are ", namesOf<PrimitiveKind>());
  }

  bool readToken() {
    std::string_view token = line.substr(begin, end - begin);
    size_t equals = token.find('=');
    std::string_view name = equals == token.npos ? "prop" : token.substr(0, equals);
    if (!seen.insert(name).second)
      return in.failAt(begin, name == "prop" ? "a second propagation kind is given"
                                             : concat("field '", name.substr(0, 40), "' is given twice"));
    if (equals == token.npos && !fromName<PropKind>(token))
      return in.failAt(begin, "'", token.substr(0, 40), "' is neither field=value nor a propagation kind (",
                       namesOf<PropKind>(), ")");
    if (name == "prop" && !hasPropagation())
      return in.failAt(begin, nameOf(desc.kind()), " has no propagation kind; '", token.substr(0, 40), "' is given");
    if (equals != token.npos)
      in.setRange(begin + equals + 1, end);
    if (!readField(name))
      return false;
    return in.atEnd() || in.fail("'", in.ahead(), "' does not belong to the value of '", name, "'");
  }

  bool hasPropagation() const {
    bool found = false;
    auto find = [&]<typename T>(const char *, const T &) { found = found || std::is_same_v<T, PropKind>; };
    std::visit([&]<typename Op>(const Op &op) { Op::visitFields(op, find); }, desc.op);
    return found;
  }

  bool readField(std::string_view name) {
    constexpr std::string_view attributes = "attr.";
    if (!name.starts_with(attributes))
      return std::visit([&](auto &op) { return assign(in, op, name, begin, nameOf(desc.kind()), ""); }, desc.op);
    if (!assign(in, desc.attr, name.substr(attributes.size()), begin, nameOf(desc.kind()), attributes))
      return false;
    Result<void> valid = desc.attr.validate();
    return valid || in.failAt(begin, valid.error().message);
  }

  std::string_view line;
  TextReader in;
  PrimitiveDesc desc;
  size_t begin = 0, end = 0; ///< range of the current token
  std::set<std::string_view> seen;
};

} // namespace

Result<PrimitiveDesc> PrimitiveDesc::parse(std::string_view line) { return LineParser(line).run(); }

} // namespace quern
