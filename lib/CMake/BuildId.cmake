# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes OUTPUT, BuildId.cpp: SHA-256 over LLVM's version, SOURCES and the headers of the tree below ROOT that they
# include, one by way of another; LISTING, what was hashed; and DEPFILE, from which the build knows the headers. OUTPUT
# is touched only when the value changes.
cmake_minimum_required(VERSION 3.25)

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

set(text "${VERSION} ${LLVM}\n")
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
