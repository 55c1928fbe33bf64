//===- Compiler.cpp - The compiler, in this or another process ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compilation/Compiler.h"

#include "Compilation/Library.h"
#include "Compilation/Process.h"

#include <cstdlib>

namespace quern {

Result<Compiler> Compiler::get() {
  const char *variable = secure_getenv("QUERN_COMPILER");
  const std::string_view choice = variable ? variable : "";
  if (choice == "process")
    return Compiler(nullptr);
  if (!choice.empty() && choice != "library")
    return invalidArguments("QUERN_COMPILER is '", choice, "'; it must be library or process");
  QUERN_ASSIGN_OR_RETURN(const CompilerLibrary *library, CompilerLibrary::get());
  return Compiler(library);
}

Result<std::string> Compiler::answer(const CompilerRequest &request, std::string *stageTimes) const {
  return library ? library->answer(request, stageTimes) : CompilerProcess::answer(request, stageTimes);
}

} // namespace quern
