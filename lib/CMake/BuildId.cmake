# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes OUTPUT, BuildId.cpp: SHA-256 over all inputs that the code of a kernel depends on; LISTING: the hashes; and
# DEPFILE, which lists the headers for the build. OUTPUT is touched only if the value changes. The inputs are
#
#   SOURCES     the sources, and the headers below ROOT that they include, directly or not
#   LLVM        its version, and the revision of LLVM_FILE: the version of its package, or the hash of the file
#   COMPILER    name and version of the compiler that compiles Quern's compiler
#   FLAGS       its options in this configuration, without paths; QUERN_ENABLE_CHECKS and QUERN_SANITIZE
#   EPOCH       the epoch of code generation (CodegenEpoch.cmake)
#
# Builds for two machines have equal ids if these inputs are equal, so that kernels of one run on the other. Hardening
# options differ by machine and are not hashed.
cmake_minimum_required(VERSION 3.25)

# The version of the distribution's package that has `file`, or the hash of the file.
function(revision file result)
  set(${result} none PARENT_SCOPE)
  if(NOT EXISTS "${file}")
    return()
  endif()
  execute_process(COMMAND dpkg-query -S ${file} OUTPUT_VARIABLE owner ERROR_QUIET RESULT_VARIABLE failed)
  if(failed EQUAL 0 AND owner MATCHES "^([^:, ]+)")
    execute_process(COMMAND dpkg-query -W -f "\${Package} \${Version}" ${CMAKE_MATCH_1} OUTPUT_VARIABLE version
      ERROR_QUIET RESULT_VARIABLE failed)
    if(failed EQUAL 0 AND version)
      set(${result} "${version}" PARENT_SCOPE)
      return()
    endif()
  endif()
  file(SHA256 ${file} hash)
  set(${result} ${hash} PARENT_SCOPE)
endfunction()

# The files of the tree that `file` includes, in `result`.
function(included file result)
  file(STRINGS ${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]")
  cmake_path(GET file PARENT_PATH here)
  set(found "")
  foreach(line IN LISTS lines)
    if(line MATCHES "include[ \t]+[\"<]([^\">]+)[\">]")
      foreach(folder IN ITEMS ${here} ${ROOT}/lib ${ROOT}/include)
        if(EXISTS ${folder}/${CMAKE_MATCH_1})
          cmake_path(SET path NORMALIZE ${folder}/${CMAKE_MATCH_1})
          list(APPEND found ${path})
          break()
        endif()
      endforeach()
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

set(files ${SOURCES})
set(waiting ${SOURCES})
while(waiting)
  list(POP_FRONT waiting file)
  included(${file} headers)
  foreach(header IN LISTS headers)
    if(NOT header IN_LIST files)
      list(APPEND files ${header})
      list(APPEND waiting ${header})
    endif()
  endforeach()
endwhile()
list(SORT files)

revision("${LLVM_FILE}" llvmRevision)
separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
list(FILTER FLAGS EXCLUDE REGEX "/")
list(JOIN FLAGS " " FLAGS)
set(text "${VERSION}; LLVM ${LLVM} ${llvmRevision}; ${COMPILER} ${FLAGS}; epoch ${EPOCH}\n")
set(rule "${OUTPUT}:")
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  file(RELATIVE_PATH name ${ROOT} ${file})
  string(APPEND text "${name} ${hash}\n")
  string(REPLACE " " "\\ " path ${file})
  string(APPEND rule " \\\n  ${path}")
endforeach()
string(SHA256 id "${text}")
string(SUBSTRING ${id} 0 32 id)
file(WRITE ${LISTING} "${text}")
file(WRITE ${DEPFILE} "${rule}\n")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "Desc/Key.h"
std::string_view quern::compilerBuildId() { return "@VERSION@+@id@"; }
]] @ONLY)
