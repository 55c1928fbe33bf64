//===- TextNames.h - Names that depend on their context -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shared by the printer and the parser of the text form: algorithm names without their family, and execution arguments.
// Internal to lib/Desc.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_TEXT_TEXTNAMES_H
#define QUERN_DESC_TEXT_TEXTNAMES_H

#include "Desc/FieldVisitor.h"
#include "Desc/PrimitiveDesc.h"

#include <array>

namespace quern {

/// Families that algorithm names omit because the struct implies them ("alg=log" in a softmax).
template <typename Struct> inline constexpr std::array<std::string_view, 2> algFamilies = {"", ""};
template <typename Struct>
  requires requires { Struct::algFamilies; }
inline constexpr std::array<std::string_view, 2> algFamilies<Struct> = Struct::algFamilies;
template <typename T> inline constexpr std::array<std::string_view, 2> algFamilies<Boxed<T>> = algFamilies<T>;
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

inline constexpr int sourcesArgumentBase = 1024; ///< source i of a sum or concat is argument 1024 + i, "srcs.i"
inline constexpr int postOpArgumentBase = 32768; ///< arguments of post-op i are 32768·(i + 1) plus the argument

/// Returns the argument named "src", "weights_1", "srcs.3", …; the name has no post-op prefix.
std::optional<int32_t> plainArgumentFromName(std::string_view name);

template <typename T>
inline constexpr bool isStruct = std::is_class_v<T> && !isVector<T> && !isMap<T> && !std::is_same_v<T, TensorDesc> &&
                                 !std::is_same_v<T, std::string>;

/// Returns true if a byte of a string is printed unchanged; any other is printed as `%` and two hexadecimal digits.
/// Characters with a special meaning for readers of lines (a comment, an open size, a closing quote) are escaped.
inline constexpr bool isPlainByte(char c) {
  return c > ' ' && c <= '~' && c != '%' && c != '#' && c != '?' && c != '\'';
}

} // namespace quern

#endif // QUERN_DESC_TEXT_TEXTNAMES_H
