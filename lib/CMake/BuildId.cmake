# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes BuildId.cpp: SHA-256 over the sources of the code generator and LLVM's version. The file is touched only when the value changes.
set(text "${VERSION} ${LLVM}\n")
foreach(source IN LISTS SOURCES)
  file(SHA256 ${source} hash)
  file(RELATIVE_PATH name ${ROOT} ${source})
  string(APPEND text "${name} ${hash}\n")
endforeach()
string(SHA256 id "${text}")
string(SUBSTRING ${id} 0 32 id)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "Desc/Key.h"
std::string_view quern::compilerBuildId() { return "@VERSION@+@id@"; }
]] @ONLY)
