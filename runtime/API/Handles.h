//===- Handles.h - C handles and their objects ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A handle is the address of an object as a pointer to an opaque type. Only unwrap() and wrap() cast between the two.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_API_HANDLES_H
#define QUERN_RUNTIME_API_HANDLES_H

#include "Core/Primitive.h"

#include "quern/quern.h"

namespace quern::api {

/// Object of a quern_blob_t.
struct Blob {
  std::string bytes;
};

using PostOps = std::vector<PostOp>;

#define QUERN_HANDLE(NAME, OBJECT)                                                                                     \
  inline OBJECT *unwrap(quern_##NAME *handle) { return reinterpret_cast<OBJECT *>(handle); }                           \
  inline const OBJECT *unwrap(const quern_##NAME *handle) { return reinterpret_cast<const OBJECT *>(handle); }         \
  inline void wrap(OBJECT *object, quern_##NAME **handle) { *handle = reinterpret_cast<quern_##NAME *>(object); }      \
  inline void wrap(const OBJECT *object, const quern_##NAME **handle) {                                                \
    *handle = reinterpret_cast<const quern_##NAME *>(object);                                                          \
  }
QUERN_HANDLE(engine, Engine)
QUERN_HANDLE(stream, Stream)
QUERN_HANDLE(memory_desc, TensorDesc)
QUERN_HANDLE(memory, Memory)
QUERN_HANDLE(primitive_attr, Attributes)
QUERN_HANDLE(post_ops, PostOps)
QUERN_HANDLE(primitive_desc, PrimitiveDescObject)
QUERN_HANDLE(primitive, Primitive)
QUERN_HANDLE(blob, Blob)
#undef QUERN_HANDLE

/// Fails for a host scalar, with a message such as "a host scalar cannot be reshaped".
inline Result<void> refuseHostScalar(const TensorDesc &desc, const char *what) {
  return desc.isHostScalar() ? Result<void>(invalidArguments("a host scalar ", what)) : Result<void>();
}

/// Returns bytes to a caller of the C API: writes their number to `size`. If `to` is not null, also copies them, and
/// fails if `*size` is too small.
inline Result<void> copyBytes(std::string_view bytes, const char *what, size_t *size, uint8_t *to) {
  if (to && *size < bytes.size())
    return invalidArguments("there is room for ", *size, " bytes of ", what, "; it has ", bytes.size());
  if (to)
    std::memcpy(to, bytes.data(), bytes.size());
  *size = bytes.size();
  return {};
}

} // namespace quern::api

#endif // QUERN_RUNTIME_API_HANDLES_H
