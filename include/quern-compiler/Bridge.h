//===- Bridge.h - The C functions between libquern and its compiler -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// libquern opens libquern-compiler on the first miss and gets this table of functions. Only bytes and plain values
// cross the boundary. Every function is thread-safe and never throws. A result of type int is a quern_status_t; on
// failure, functions with a parameter `error` write one line to it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_BRIDGE_H
#define QUERN_COMPILER_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

extern "C" {

/// Version of this interface.
#define QUERN_COMPILER_API_VERSION 3

/// Receives the bytes of a result.
struct quern_byte_sink {
  /// Called at most once per call of a function. The bytes are valid during the call.
  void (*write)(void *context, const void *bytes, size_t size);
  void *context; ///< passed to write()
};

/// Form of the result, with the values of quern_code_form_t.
enum quern_compiler_form {
  QUERN_COMPILER_EMIT = 1,     ///< linalg on memrefs, text
  QUERN_COMPILER_SCHEDULE = 2, ///< vector and scf, text
  QUERN_COMPILER_LOWER = 3,    ///< LLVM dialect, text
  QUERN_COMPILER_LLVM = 4,     ///< LLVM IR, text
  QUERN_COMPILER_ASM = 5,      ///< assembly, text
  QUERN_COMPILER_OBJECT = 6,   ///< ELF object
  QUERN_COMPILER_SPIRV = 7,    ///< SPIR-V module
  QUERN_COMPILER_ARTIFACT = 8, ///< Artifact::serialize()
  QUERN_COMPILER_TRACE = 9,    ///< JSON: the text of every stage, and the line that each line comes from
  /// ELF object with DWARF. The source is the text of the schedule, which is also in the sections .quern.source and
  /// .quern.lines. The loaded sections are those of QUERN_COMPILER_OBJECT.
  QUERN_COMPILER_DEBUG_OBJECT = 10,
};

/// A problem to compile.
struct quern_compile_request {
  const void *descriptor; ///< PrimitiveDesc::canonicalBytes() of a verified problem
  size_t descriptor_size; ///< in bytes
  const char *target;     ///< Target::text()
  int32_t form;           ///< quern_compiler_form
  int32_t verify_ir;      ///< nonzero: run the verifiers of MLIR and LLVM between stages
  /// Debug objects: name of the source file in DWARF; null: "2-schedule.mlir".
  const char *source = nullptr;
};

/// Functions of libquern-compiler.
struct quern_compiler_api {
  uint32_t version;     ///< QUERN_COMPILER_API_VERSION
  const char *build_id; ///< build id of the compiler, a static string
  /// Compiles a problem. The result depends only on the request.
  int (*compile)(const quern_compile_request *request, const quern_byte_sink *result, const quern_byte_sink *error);
  /// Links an ElfObject artifact with ORC. `entries` has room for `entry_count` addresses and receives one for each
  /// entry of the artifact. `owner` receives an object that keeps them valid until release().
  int (*link)(const void *artifact, size_t size, void **entries, size_t entry_count, void **owner,
          const quern_byte_sink *error);
  /// Unmaps the code of link().
  void (*release)(void *owner);
  /// Writes one line: how the problem would be scheduled and why.
  int (*explain)(const quern_compile_request *request, const quern_byte_sink *result, const quern_byte_sink *error);
  /// Writes one line: the wall time of each stage of the last compile() of this thread, in ms.
  int (*stage_times)(const quern_byte_sink *result);
  /// Reads a function in MLIR, whose bytes the descriptor of the request contains, and writes the descriptor of the
  /// problem. Fails if the recipes of the target do not support it. Ignores the form of the request.
  int (*read)(const quern_compile_request *request, const quern_byte_sink *result, const quern_byte_sink *error);
};

/// Returns the table; null if `version` is not that of the library. The only symbol that libquern looks up.
const quern_compiler_api *quern_compiler_get_api(uint32_t version);

} // extern "C"

#endif // QUERN_COMPILER_BRIDGE_H
