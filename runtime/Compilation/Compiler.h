//===- Compiler.h - Whoever compiles, here or in another process ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the runtime asks to compile and to explain. QUERN_COMPILER=process has it done by other processes
// (CompilerProcess.h), anything else by the library that this one opens (CompilerLibrary.h).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_COMPILER_H
#define QUERN_RUNTIME_COMPILATION_COMPILER_H

#include "Support/Error.h"

#include <string>
#include <string_view>

namespace quern {

class CompilerLibrary;

class Compiler {
public:
  /// Reads QUERN_COMPILER. `invalid_arguments`: it is neither `library` nor `process`; `runtime_error`: the
  /// library cannot be opened.
  static Result<Compiler> get();

  /// Whether QUERN_COMPILER asks for another process, so that nothing is compiled in this one.
  static bool isApart();
  /// Null if another process compiles.
  const CompilerLibrary *linkingLibrary() const { return library; }

  /// `descriptor` is PrimitiveDesc::canonicalBytes() of a verified problem, `target` Target::text(), `form` a
  /// quern_compiler_form. `stageTimes`, if not null, gets one line: the wall time of each stage. Of another process
  /// also `internal_error` (it crashed, or took longer than it may) and `out_of_memory`.
  /// `source` is the field of quern_compile_request; "": null.
  Result<std::string> compile(std::string_view descriptor, const std::string &target, int form,
                              std::string *stageTimes = nullptr, const std::string &source = "") const;
  Result<std::string> explain(std::string_view descriptor, const std::string &target) const;
  /// `descriptor` is that of a caller's function as it is given; the result that of it as it was read.
  Result<std::string> read(std::string_view descriptor, const std::string &target) const;

private:
  explicit Compiler(const CompilerLibrary *library) : library(library) {}
  const CompilerLibrary *library;
};

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_COMPILER_H
