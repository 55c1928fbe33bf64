# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Hardening: QUERN_HARDENING_LINK has linker options for all files of the build, quern_harden() adds compiler options
# for installed files. test/layering/check_binaries.py checks the result in each ELF file.

set(QUERN_HARDENING_LINK -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)

# A function with a frame larger than a page touches each page, so that none can skip the guard page of a stack.
set(QUERN_HARDENING_COMPILE -fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND QUERN_HARDENING_COMPILE -fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND QUERN_HARDENING_COMPILE -mbranch-protection=standard)
endif()
# Sanitizers have stronger checks, and the fortified functions would hide calls from them.
if(NOT QUERN_SANITIZE)
  list(APPEND QUERN_HARDENING_COMPILE
    "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3>")
endif()

# quern_harden(<target>...): compiles the targets that exist with the options above.
function(quern_harden)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      target_compile_options(${target} PRIVATE ${QUERN_HARDENING_COMPILE})
    endif()
  endforeach()
endfunction()

# Programs of the build tree that are not installed find libraries relative to themselves. Installed ones have one run
# path in both trees (QuernInstall.cmake).
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
