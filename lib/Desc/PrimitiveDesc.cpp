//===- PrimitiveDesc.cpp - Canonical bytes of a problem -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The bytes are the kind, the operation's fields and the attributes. fromBytes() accepts only the bytes that
// canonicalBytes() writes: it writes the descriptor again and compares.
//
//===----------------------------------------------------------------------===//
#include "Desc/FieldVisitor.h"

#include "Desc/PrimitiveDesc.h"

namespace quern {

#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT)                                                    \
  bool NAME##Desc::operator==(const NAME##Desc &other) const { return sameFields(*this, other); }
#include "Desc/Primitives.def"
bool MlirDesc::operator==(const MlirDesc &other) const { return sameFields(*this, other); }
bool PrimitiveDesc::operator==(const PrimitiveDesc &other) const { return op == other.op && attr == other.attr; }

namespace {

template <typename... Ops> PrimitiveKind kindAt(const std::variant<Ops...> &op) {
  constexpr PrimitiveKind kinds[] = {kindOf<Ops>...};
  return kinds[op.index()];
}

template <typename... Ops> bool emplaceKind(std::variant<Ops...> &op, PrimitiveKind kind) {
  return ((kind == kindOf<Ops> && (op.template emplace<Ops>(), true)) || ...);
}

} // namespace

PrimitiveKind PrimitiveDesc::kind() const { return kindAt(op); }
bool PrimitiveDesc::setKind(PrimitiveKind kind) { return emplaceKind(op, kind); }

void PrimitiveDesc::write(ByteWriter &out) const {
  out.put(kind());
  std::visit([&](const auto &fields) { writeField(out, fields); }, op);
  writeField(out, attr);
}

std::string PrimitiveDesc::title() const {
  if (kind() != PrimitiveKind::Mlir)
    return text();
  PrimitiveDesc copy = *this;
  auto &mlir = std::get<MlirDesc>(copy.op);
  mlir.module.clear();
  mlir.code.clear();
  return copy.text();
}

std::string PrimitiveDesc::canonicalBytes() const {
  ByteWriter out;
  const auto *mlir = std::get_if<MlirDesc>(&op);
  out.bytes.reserve(512 + (mlir ? mlir->module.size() + mlir->code.size() : 0));
  write(out);
  return out.take();
}

Result<PrimitiveDesc> PrimitiveDesc::fromBytes(std::string_view bytes) {
  PrimitiveDesc desc;
  ByteReader in(bytes);
  auto kind = in.get<PrimitiveKind>();
  if (!in.ok() || !desc.setKind(kind))
    return invalidArguments("descriptor bytes are of primitive kind ", static_cast<int32_t>(kind),
                            ", which is unknown");
  FieldReader reader{in, {}, {}};
  std::visit([&](auto &fields) { reader.readValue(fields); }, desc.op);
  reader.readValue(desc.attr);
  if (!in.ok())
    return invalidArguments("descriptor bytes are malformed at field '", reader.failedField, "'",
                            reader.reason.empty() ? "" : ": ", reader.reason);
  if (!in.atEnd())
    return invalidArguments("descriptor bytes are followed by ", in.remaining(), " more bytes");
  QUERN_RETURN_IF_ERROR(desc.attr.validate());
  if (desc.canonicalBytes() != bytes)
    return invalidArguments("descriptor bytes are not canonical");
  return desc;
}

} // namespace quern
