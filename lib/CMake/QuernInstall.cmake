# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The files that `cmake --install` copies: public headers, the libraries, the plugin for mlir-opt, the compiler process,
# the command, and, for other builds, the CMake package Quern and quern.pc. The installed tree may be moved. The
# compiler as a C++ library is a separate export set, because only its users need MLIR.

set(QUERN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Quern)

# Installed targets are linked with their final run path. Otherwise CMake reserves space for it in the build tree with
# colons, and each empty part between two colons means the working directory.
foreach(target IN ITEMS quern quern_remote quern_onnxruntime quern_dnnl quern_compiler quern_mlir_compiler quern_mlir
    quern_compiler_process quern_tool)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  endif()
endforeach()

install(TARGETS quern EXPORT QuernTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT QuernTargets NAMESPACE Quern:: DESTINATION ${QUERN_CMAKE_DIR})
install(DIRECTORY include/quern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# libquern loads it from its own folder if a remote cache is configured.
install(TARGETS quern_remote LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# ONNX Runtime is passed its path.
if(TARGET quern_onnxruntime)
  install(TARGETS quern_onnxruntime LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# The drop-in replacement for oneDNN is in a separate folder, under both names.
install(TARGETS quern_dnnl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/quern-dnnl)
install(FILES $<TARGET_FILE_DIR:quern_dnnl>/libdnnl.so.3 DESTINATION ${CMAKE_INSTALL_LIBDIR}/quern-dnnl)

if(QUERN_ENABLE_COMPILER)
  # The packaged LLVM is not in the dynamic linker's default path.
  set_target_properties(quern_compiler quern_mlir_compiler PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS quern_mlir_compiler EXPORT QuernCompilerTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  # mlir-opt is passed its path; it finds the compiler library in its own folder.
  install(TARGETS quern_mlir LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  # libquern finds both in its own folder.
  install(TARGETS quern_compiler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS quern_compiler_process RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT QuernCompilerTargets NAMESPACE Quern:: DESTINATION ${QUERN_CMAKE_DIR})
  install(DIRECTORY include/quern-compiler DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

if(QUERN_BUILD_TOOLS)
  install(TARGETS quern_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# Packs of families: built by the target quern-families, installed if they exist.
if(QUERN_BUILD_TOOLS AND QUERN_ENABLE_COMPILER)
  set(packs)
  set(isas sse42 avx2 avx512_core avx512_core_bf16)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
    set(isas neon neon_dotprod neon_bf16 sve_bf16:vl=128 sve_bf16:vl=256 sve:vl=512)
  endif()
  foreach(isa IN LISTS isas)
    string(REPLACE ":vl=" "_" name ${isa})
    set(pack ${CMAKE_BINARY_DIR}/families/families-${name}.qpk)
    add_custom_command(OUTPUT ${pack}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/families
      COMMAND quern_tool pack build --families ${PROJECT_SOURCE_DIR}/runtime/families.desc --target=${isa} -o ${pack}
      DEPENDS quern_tool quern_compiler runtime/families.desc COMMENT "Compiling families for ${isa}" VERBATIM)
    list(APPEND packs ${pack})
  endforeach()
  add_custom_target(quern-families DEPENDS ${packs})
  install(FILES ${packs} DESTINATION ${CMAKE_INSTALL_DATADIR}/quern/packs OPTIONAL)
  install(FILES runtime/families.desc DESTINATION ${CMAKE_INSTALL_DATADIR}/quern/problems)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/QuernConfig.cmake.in ${CMAKE_BINARY_DIR}/QuernConfig.cmake
  INSTALL_DESTINATION ${QUERN_CMAKE_DIR} PATH_VARS CMAKE_INSTALL_BINDIR)
# Before 1.0, a minor version may be incompatible.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/QuernConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/QuernConfig.cmake ${CMAKE_BINARY_DIR}/QuernConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/QuernPacks.cmake
  DESTINATION ${QUERN_CMAKE_DIR})

file(RELATIVE_PATH QUERN_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" QUERN_PC_PREFIX ${QUERN_PC_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/quern.pc.in ${CMAKE_BINARY_DIR}/quern.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/quern.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/quern)
