//===- PrimitiveDesc.cpp - Canonical bytes of a problem -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The kind, the operation's fields, the attributes. fromBytes() accepts exactly what canonicalBytes() writes: it writes what it read once
// more and compares.
//
//===----------------------------------------------------------------------===//
#include "Desc/FieldVisitor.h"

#include "Desc/PrimitiveDesc.h"

namespace quern {

bool SoftmaxDesc::operator==(const SoftmaxDesc &other) const { return sameFields(*this, other); }
bool ReorderDesc::operator==(const ReorderDesc &other) const { return sameFields(*this, other); }
bool RnnDesc::operator==(const RnnDesc &other) const { return sameFields(*this, other); }
bool PrimitiveDesc::operator==(const PrimitiveDesc &other) const { return op == other.op && attr == other.attr; }

PrimitiveKind PrimitiveDesc::kind() const {
  constexpr PrimitiveKind kinds[] = {PrimitiveKind::Softmax, PrimitiveKind::Reorder, PrimitiveKind::Rnn};
  return kinds[op.index()];
}

void PrimitiveDesc::write(ByteWriter &out) const {
  out.put(kind());
  std::visit([&](const auto &fields) { writeField(out, fields); }, op);
  writeField(out, attr);
}

std::string PrimitiveDesc::canonicalBytes() const {
  ByteWriter out;
  out.bytes.reserve(512);
  write(out);
  return out.take();
}

Result<PrimitiveDesc> PrimitiveDesc::fromBytes(std::string_view bytes) {
  PrimitiveDesc desc;
  ByteReader in(bytes);
  auto kind = in.get<PrimitiveKind>();
  if (kind == PrimitiveKind::Reorder)
    desc.op = ReorderDesc();
  else if (kind == PrimitiveKind::Rnn)
    desc.op = RnnDesc();
  else if (kind != PrimitiveKind::Softmax || !in.ok())
    return invalidArguments("descriptor bytes are of primitive kind ", static_cast<int32_t>(kind), ", which is unknown");
  FieldReader reader{in, {}, {}};
  std::visit([&](auto &fields) { reader.readValue(fields); }, desc.op);
  reader.readValue(desc.attr);
  if (!in.ok())
    return invalidArguments("descriptor bytes are malformed at field '", reader.failedField, "'", reader.reason.empty() ? "" : ": ",
                            reader.reason);
  if (!in.atEnd())
    return invalidArguments("descriptor bytes go on for ", in.remaining(), " bytes after their end");
  if (Result<void> valid = desc.attr.validate(); !valid)
    return valid.takeError();
  if (desc.canonicalBytes() != bytes)
    return invalidArguments("descriptor bytes are not canonical");
  return desc;
}

} // namespace quern
