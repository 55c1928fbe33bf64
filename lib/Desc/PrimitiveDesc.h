//===- PrimitiveDesc.h - A whole problem: operation, tensors, attributes --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The value that everything else is derived from. Equality, canonical bytes, key, text form and parser all derive from
// visitFields(), so that a field cannot be forgotten in one of them.
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

/// The kind of an alternative of the variant.
template <typename Op> inline constexpr PrimitiveKind kindOf = Op::kind;
template <typename Op> inline constexpr PrimitiveKind kindOf<Boxed<Op>> = Op::kind;

/// An RNN has 25 tensors, 19 KB: what is large is boxed, so that the other operations do not pay for it.
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
  /// Makes `op` an empty one of this kind; false where no operation has it.
  bool setKind(PrimitiveKind kind);
  bool operator==(const PrimitiveDesc &other) const;

  /// Equal descriptors, and only they, give equal bytes.
  std::string canonicalBytes() const;
  void write(ByteWriter &out) const;
  /// The inverse; checks every field, so that bytes from a file are safe.
  static Result<PrimitiveDesc> fromBytes(std::string_view bytes);

  /// The one-line text form; docs/text-form.md has the grammar. parse(text()) == *this.
  std::string text() const;
  /// The same for messages, without what is long: the bytes of a caller's function.
  std::string title() const;
  /// On failure the message has three lines: what is wrong, the line, and a caret under the place.
  static Result<PrimitiveDesc> parse(std::string_view line);
};

} // namespace quern

#endif // QUERN_DESC_PRIMITIVEDESC_H
