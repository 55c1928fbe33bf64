//===- Compiler.h - The compiler, in this or another process --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles and explains problems for the runtime. With QUERN_COMPILER=process, separate processes do it
// (CompilerProcess), otherwise the library that this process loads (CompilerLibrary).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_COMPILER_H
#define QUERN_RUNTIME_COMPILATION_COMPILER_H

#include "Compilation/Messages.h"
#include "Support/Error.h"

#include <string>
#include <string_view>

namespace quern {

class CompilerLibrary;

class Compiler {
public:
  /// Returns the compiler that QUERN_COMPILER selects. Fails with `invalid_arguments` if the variable is neither
  /// `library` nor `process`, and with `runtime_error` if the library cannot be opened.
  static Result<Compiler> get();

  /// Returns the library that compiles and links; null if a separate process compiles.
  const CompilerLibrary *linkingLibrary() const { return library; }

  /// Returns the result of a request. `stageTimes`, if not null, receives one line with the wall time of each stage of
  /// a compilation. A separate process also fails with `internal_error` (it crashed or exceeded its time) and
  /// `out_of_memory`.
  Result<std::string> answer(const CompilerRequest &request, std::string *stageTimes = nullptr) const;

private:
  explicit Compiler(const CompilerLibrary *library) : library(library) {}
  const CompilerLibrary *library;
};

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_COMPILER_H
