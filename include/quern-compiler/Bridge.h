//===- Bridge.h - The C functions between libquern and its compiler -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// libquern opens libquern-compiler on the first miss and asks for this table. Only bytes and plain values cross. Every
// function is thread-safe, returns a status of quern_status_t, never throws, and on failure sends one line to `error`.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_BRIDGE_H
#define QUERN_COMPILER_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

extern "C" {

#define QUERN_COMPILER_API_VERSION 3

/// Receives the bytes of a result; called at most once for each sink of a call.
struct quern_byte_sink {
  void (*write)(void *context, const void *bytes, size_t size);
  void *context;
};

/// What to produce. The values are quern_code_form_t's.
enum quern_compiler_form {
  QUERN_COMPILER_EMIT = 1,     ///< linalg on memrefs, text
  QUERN_COMPILER_SCHEDULE = 2, ///< vector and scf, text
  QUERN_COMPILER_LOWER = 3,    ///< LLVM dialect, text
  QUERN_COMPILER_LLVM = 4,     ///< LLVM IR, text
  QUERN_COMPILER_ASM = 5,      ///< assembly, text
  QUERN_COMPILER_OBJECT = 6,   ///< ELF object
  QUERN_COMPILER_SPIRV = 7,
  QUERN_COMPILER_ARTIFACT = 8, ///< Artifact::serialize()
  QUERN_COMPILER_TRACE = 9,    ///< all stages and which line comes from which, JSON
  /// ELF object with DWARF, whose source is the text of the schedule, in sections .quern.source and .quern.lines too.
  /// What is loaded of it is the same as of QUERN_COMPILER_OBJECT.
  QUERN_COMPILER_DEBUG_OBJECT = 10,
};

struct quern_compile_request {
  const void *descriptor; ///< PrimitiveDesc::canonicalBytes() of a verified problem
  size_t descriptor_size;
  const char *target; ///< Target::text()
  int32_t form;       ///< quern_compiler_form
  int32_t verify_ir;  ///< run MLIR's and LLVM's verifiers between stages
  /// Of a debug object: what its DWARF calls the file with the schedule's text; null: "2-schedule.mlir".
  const char *source = nullptr;
};

struct quern_compiler_api {
  uint32_t version;
  const char *build_id;
  /// A pure function of the request.
  int (*compile)(const quern_compile_request *request, const quern_byte_sink *result, const quern_byte_sink *error);
  /// Links an ElfObject artifact with ORC. `entries` receives one address for each entry of the artifact (the caller
  /// gives room for `entry_count`); `owner` keeps them alive until release().
  int (*link)(const void *artifact, size_t size, void **entries, size_t entry_count, void **owner,
          const quern_byte_sink *error);
  void (*release)(void *owner);
  /// Text, one line: how the problem would be scheduled and why.
  int (*explain)(const quern_compile_request *request, const quern_byte_sink *result, const quern_byte_sink *error);
  /// Text, one line: the wall time of each stage of the calling thread's last compile(), in milliseconds.
  int (*stage_times)(const quern_byte_sink *result);
  /// The descriptor of a function of the caller's, which the request has as bytes of MLIR, as it was read; refused
  /// where the target's recipes do not take it. A pure function of the request, whose form does not matter.
  int (*read)(const quern_compile_request *request, const quern_byte_sink *result, const quern_byte_sink *error);
};

/// The only symbol libquern looks up. Null if `version` is not the library's.
const quern_compiler_api *quern_compiler_get_api(uint32_t version);

} // extern "C"

#endif // QUERN_COMPILER_BRIDGE_H
