//===- TextForm.cpp - Problems as one line of text ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Printer and parser derive from visitFields(): a field is `name=value`, a struct within a struct is `outer.inner=value`, an item of a list
// is `name(field=value,...)`. Fields that have their default are not printed, so that a line shows what is special about a problem.
//
//===----------------------------------------------------------------------===//
#include "Desc/TextForm.h"

#include "Desc/FieldVisitor.h"
#include "Desc/PrimitiveDesc.h"
#include "Desc/TextReader.h"

#include <set>

namespace quern {
namespace {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Algorithms are named without their family where the struct tells it ("alg=log" of a softmax).
template <typename Struct> inline constexpr std::array<std::string_view, 2> algFamilies = {"", ""};
template <> inline constexpr std::array<std::string_view, 2> algFamilies<SoftmaxDesc> = {"softmax_", "softmax_"};
template <> inline constexpr std::array<std::string_view, 2> algFamilies<RnnDesc> = {"eltwise_", "vanilla_"};
template <> inline constexpr std::array<std::string_view, 2> algFamilies<PostOp> = {"eltwise_", "binary_"};

template <typename Struct> std::string_view shortName(Alg alg) {
  std::string_view name = nameOf(alg);
  for (std::string_view family : algFamilies<Struct>)
    if (name.starts_with(family))
      return name.substr(family.size());
  return name;
}

template <typename Struct> std::optional<Alg> algFromName(std::string_view name) {
  for (std::string_view family : algFamilies<Struct>)
    if (auto alg = fromName<Alg>(std::string(family) + std::string(name)))
      return alg;
  return fromName<Alg>(name);
}

struct ArgumentName {
  int32_t argument;
  std::string_view name;
};
constexpr ArgumentName argumentNames[] = {
    {1, "src"},        {2, "src_1"},       {3, "src_2"},        {17, "dst"},           {18, "dst_1"},          {19, "dst_2"},
    {33, "weights"},   {34, "weights_1"},  {35, "weights_2"},   {36, "weights_3"},     {41, "bias"},           {129, "diff_src"},
    {145, "diff_dst"}, {130, "diff_src_1"}, {146, "diff_dst_1"}, {161, "diff_weights"}, {162, "diff_weights_1"}, {169, "diff_bias"},
};
constexpr int postOpBase = 32768; ///< arguments of post-op i are 32768·(i + 1) and the argument

std::optional<int32_t> plainArgumentFromName(std::string_view name) {
  for (const ArgumentName &entry : argumentNames)
    if (entry.name == name)
      return entry.argument;
  return std::nullopt;
}

template <typename T>
inline constexpr bool isStruct = std::is_class_v<T> && !isVector<T> && !isMap<T> && !std::is_same_v<T, TensorDesc>;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

struct FieldBytes {
  std::vector<std::string> all;
  template <typename T> void operator()(const char *, const T &value) {
    ByteWriter out;
    writeField(out, value);
    all.push_back(out.take());
  }
};

template <typename Struct> void appendValue(std::string &out, bool value) { out += value ? "true" : "false"; }
template <typename Struct> void appendValue(std::string &out, float value) { appendFloat(out, value); }
template <typename Struct> void appendValue(std::string &out, const TensorDesc &value) { appendTensor(out, value); }
template <typename Struct, typename T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
void appendValue(std::string &out, const T &value) {
  if constexpr (std::is_same_v<T, Alg>)
    out += shortName<Struct>(value);
  else if constexpr (std::is_enum_v<T>)
    out += nameOf(value);
  else
    appendInteger(out, value);
}

void appendItem(std::string &out, const PostOp &op);
void appendItem(std::string &out, int32_t argument, const QuantParams &params);

template <typename Struct, typename T> void appendValue(std::string &out, const std::vector<T> &values) {
  const char *separator = "";
  for (const T &value : values) {
    out += separator;
    if constexpr (std::is_same_v<T, PostOp>)
      appendItem(out, value);
    else
      appendValue<Struct>(out, value);
    separator = std::is_same_v<T, int64_t> ? "x" : ",";
  }
}

template <typename Struct> void appendValue(std::string &out, const std::map<int32_t, QuantParams> &values) {
  const char *separator = "";
  for (const auto &[argument, params] : values) {
    out += separator;
    appendItem(out, argument, params);
    separator = ",";
  }
}

/// Prints the fields of `Struct` that differ from its default, each after `open` (the first) or `separator`.
template <typename Struct> struct FieldPrinter {
  std::string &out;
  std::string prefix;
  std::string_view open, separator;
  FieldBytes defaults{};
  size_t index = 0;
  bool any = false;

  void print(const Struct &value) {
    Struct standard;
    Struct::visitFields(standard, defaults);
    Struct::visitFields(value, *this);
  }
  template <typename T> void operator()(const char *name, const T &value) {
    ByteWriter bytes;
    writeField(bytes, value);
    if (bytes.bytes == defaults.all[index++])
      return;
    if constexpr (std::is_same_v<T, PostOp::Kind>)
      return; // the name of the item
    if constexpr (isStruct<T>) {
      FieldPrinter<T>{out, prefix + name + ".", open, separator}.print(value);
      return;
    } else {
      out += any ? separator : open;
      any = true;
      if constexpr (!std::is_same_v<T, PropKind>) {
        out += prefix;
        out += name;
        out += '=';
      }
      appendValue<Struct>(out, value);
    }
  }
};

void appendItem(std::string &out, const PostOp &op) {
  out += nameOf(op.kind);
  FieldPrinter<PostOp> printer{out, "", "(", ","};
  printer.print(op);
  if (printer.any)
    out += ')';
}

void appendItem(std::string &out, int32_t argument, const QuantParams &params) {
  out += nameOfArgument(argument);
  FieldPrinter<QuantParams> printer{out, "", "(", ","};
  printer.print(params);
  if (printer.any)
    out += ')';
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

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
  return value || word == "false" || word == "0" || in.failAt(start, what, " is '", word.substr(0, 40), "'; it is true or false");
}

bool readArgument(TextReader &in, int32_t &argument) {
  size_t start = in.position();
  int32_t base = 0;
  std::string_view word = in.takeWord();
  if (word.starts_with("post")) {
    size_t dot = word.find('.');
    in.setPosition(start + 4);
    int32_t index = 0;
    if (dot == word.npos || !in.readInteger(index, "number of the post-op") || index < 0 || index >= static_cast<int32_t>(maxPostOps) ||
        !in.take('.'))
      return in.failAt(start, "'", word.substr(0, 40), "' is not an argument of a post-op from post0 to post", maxPostOps - 1,
                       ", as post0.src_1 is");
    base = postOpBase * (index + 1);
    word = in.takeWord();
  }
  if (auto plain = plainArgumentFromName(word)) {
    argument = base | *plain;
    return true;
  }
  in.setPosition(start);
  if (base != 0 || !in.readInteger(argument, "argument"))
    return in.failAt(start, "'", in.ahead(), "' is not an argument: a name (src, dst, weights, ...) or a number");
  return true;
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
  return isNew ? readFields(in, at->second) : in.failAt(start, "argument ", nameOfArgument(argument), " is given twice");
}

bool readItem(TextReader &in, std::vector<float> &values) { return in.readFloat(values.emplace_back(), "scale"); }

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
  } else {
    constexpr char separator = std::is_same_v<T, std::vector<int64_t>> ? 'x' : ',';
    do
      if (!readItem(in, value))
        return false;
    while (in.take(separator));
    return true;
  }
}

/// Visits a struct to read the one field that `name` says; "outer.inner" descends.
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

/// Reads the value of field `name` at the cursor. `place` is where the name stands.
template <typename Struct>
bool assign(TextReader &in, Struct &value, std::string_view name, size_t place, std::string_view owner, std::string_view prefix) {
  FieldAssigner<Struct> assigner{in, name};
  Struct::visitFields(value, assigner);
  if (assigner.isFound || !in.ok())
    return in.ok();
  FieldNames names{{}, std::string(prefix)};
  Struct::visitFields(value, names);
  return in.failAt(place, owner, " has no field '", std::string(prefix), name.substr(0, 40), "'; known are ", names.all);
}

/// "(field=value,...)" or nothing.
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
      return in.failAt(place, "field '", name.substr(0, 40), name == "kind" ? "' is the name of the item" : "' is given twice");
    if (!assign(in, value, name, place, "this item", ""))
      return false;
  } while (in.take(','));
  return in.take(')') || in.fail("')' is missing");
}

constexpr bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Splits the line at white space and reads one token after the other.
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
    switch (kind) {
    case PrimitiveKind::Softmax:
      desc.op = SoftmaxDesc();
      break;
    case PrimitiveKind::Reorder:
      desc.op = ReorderDesc();
      break;
    case PrimitiveKind::Rnn:
      desc.op = RnnDesc();
      break;
    case PrimitiveKind::Undef:
      return in.failAt(begin, "primitive is 'undef'; known are ", namesOf<PrimitiveKind>());
    }
    return true;
  }

  bool readToken() {
    std::string_view token = line.substr(begin, end - begin);
    size_t equals = token.find('=');
    std::string_view name = equals == token.npos ? "prop" : token.substr(0, equals);
    if (!seen.insert(name).second)
      return in.failAt(begin, name == "prop" ? "a second propagation kind is given" : concat("field '", name.substr(0, 40), "' is given twice"));
    if (equals == token.npos && !fromName<PropKind>(token))
      return in.failAt(begin, "'", token.substr(0, 40), "' is neither field=value nor a propagation kind (", namesOf<PropKind>(), ")");
    if (name == "prop" && std::holds_alternative<ReorderDesc>(desc.op))
      return in.failAt(begin, "reorder has no propagation kind; '", token.substr(0, 40), "' is given");
    if (equals != token.npos)
      in.setRange(begin + equals + 1, end);
    if (!readField(name))
      return false;
    return in.atEnd() || in.fail("'", in.ahead(), "' does not belong to the value of '", name, "'");
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
  size_t begin = 0, end = 0; ///< of the token
  std::set<std::string_view> seen;
};

} // namespace

std::string nameOfArgument(int32_t argument) {
  int32_t plain = argument % postOpBase, postOp = argument / postOpBase - 1;
  for (const ArgumentName &entry : argumentNames) {
    if (entry.argument != plain)
      continue;
    std::string name(entry.name);
    if (postOp < 0)
      return name;
    if (postOp < static_cast<int32_t>(maxPostOps))
      return "post" + std::to_string(postOp) + "." + name;
  }
  return std::to_string(argument);
}

std::string PrimitiveDesc::text() const {
  std::string out(nameOf(kind()));
  std::visit([&]<typename Op>(const Op &fields) { FieldPrinter<Op>{out, "", " ", " "}.print(fields); }, op);
  FieldPrinter<Attributes>{out, "attr.", " ", " "}.print(attr);
  return out;
}

Result<PrimitiveDesc> PrimitiveDesc::parse(std::string_view line) { return LineParser(line).run(); }

} // namespace quern
