//===- TextForm.cpp - Problems as one line of text ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The printer derives from visitFields(): a field is `name=value`, a struct within a struct is `outer.inner=value`, and
// an item of a list is `name(field=value,...)`. Fields with default values are not printed, so a line shows only the
// distinctive properties of a problem.
//
//===----------------------------------------------------------------------===//
#include "Desc/Text/TextForm.h"

#include "Desc/Text/TextNames.h"
#include "Desc/Text/TextReader.h"

namespace quern {
namespace {

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
template <typename Struct> void appendValue(std::string &out, const std::string &value) {
  constexpr char digits[] = "0123456789abcdef";
  for (char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (isPlainByte(c))
      out += c;
    else
      out.append({'%', digits[byte >> 4], digits[byte & 15]});
  }
}
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
      return; // printed as the name of the item
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

} // namespace

std::string PrimitiveDesc::text() const {
  std::string out(nameOf(kind()));
  std::visit([&]<typename Op>(const Op &fields) { FieldPrinter<Op>{out, "", " ", " "}.print(fields); }, op);
  FieldPrinter<Attributes>{out, "attr.", " ", " "}.print(attr);
  return out;
}

} // namespace quern
