//===- PrimitiveDesc.h - A whole problem: operation, tensors, attributes --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Everything else derives from this value. Equality, canonical bytes, key, text form and parser all use visitFields(),
// so none of them can omit a field.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_PRIMITIVEDESC_H
#define QUERN_DESC_PRIMITIVEDESC_H

#include "Desc/Attributes.h"
#include "Desc/Boxed.h"
#include "Desc/Mlir.h"
#include "Primitives/Binary/Desc.h"
#include "Primitives/Concat/Desc.h"
#include "Primitives/Eltwise/Desc.h"
#include "Primitives/Gemm/Desc.h"
#include "Primitives/Reorder/Desc.h"
#include "Primitives/Rnn/Desc.h"
#include "Primitives/Softmax/Desc.h"
#include "Primitives/Sum/Desc.h"
#include "Support/Digest.h"

#include <string>
#include <variant>

namespace quern {

/// Kind of an alternative of the variant.
template <typename Op> inline constexpr PrimitiveKind kindOf = Op::kind;
template <typename Op> inline constexpr PrimitiveKind kindOf<Boxed<Op>> = Op::kind;

/// An RNN has 25 tensors, 19 KB. Large descriptors are boxed, so that they do not enlarge the other operations.
template <typename Desc> using HeldDesc = std::conditional_t<(sizeof(Desc) > 8192), Boxed<Desc>, Desc>;

template <typename, typename... Descs> struct VariantOf {
  using Type = std::variant<HeldDesc<Descs>...>;
};
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) , NAME##Desc
using OperationDesc = VariantOf<void
#include "Desc/Primitives.def"
                                ,
                                MlirDesc>::Type;

struct PrimitiveDesc {
  OperationDesc op;
  Attributes attr;

  PrimitiveKind kind() const;
  /// Sets `op` to an empty operation of this kind; returns false if there is none.
  bool setKind(PrimitiveKind kind);
  bool operator==(const PrimitiveDesc &other) const;

  /// Returns bytes that are equal if and only if the descriptors are equal.
  std::string canonicalBytes() const;
  void write(ByteWriter &out) const;
  /// Inverse of canonicalBytes(). Checks every field, so it accepts bytes from any source.
  static Result<PrimitiveDesc> fromBytes(std::string_view bytes);

  /// Returns the one-line text form; docs/text-form.md has the grammar. parse(text()) == *this.
  std::string text() const;
  /// Returns the text form for messages, without the code of a function given as MLIR.
  std::string title() const;
  /// Parses the text form. On failure the message has three lines: the reason, the line, and a caret under the
  /// position.
  static Result<PrimitiveDesc> parse(std::string_view line);
};

} // namespace quern

#endif // QUERN_DESC_PRIMITIVEDESC_H
