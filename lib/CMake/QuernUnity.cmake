# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the sources of each folder as one translation unit, in every target of DIRECTORY and its subdirectories. This
# halves the time of a clean build. With QUERN_UNITY=TESTS, only tests and their tools are built in this way. Release
# libraries and programs have separate translation units, in which a call cannot reach another file's function by
# mistake. Names in unnamed namespaces must differ within a folder, except in the files below, which are compiled
# separately. The compiler half has a precompiled header instead.
set(QUERN_UNITY_ALONE
  "lib/(Compiler|Functions|IR|Plugin|Schedule|Targets|Transforms)/.*"
  "lib/Primitives/(.*/)?Emit.*"
  "lib/Primitives/Rnn/Verify/(Dims|Kind|Types)"
  "lib/Reference/Rnn/BackwardReference"
  "runtime/API/MemoryDesc"
  "runtime/Cache/Pack"
  "runtime/Dnnl/Verbose"
  "runtime/(LevelZero|Mlir|OnnxRuntime|Python)/.*"
  "build/.*"
  "test/unit/Desc/TensorOpsTest"
  "test/unit/(Primitives|Reference)/.*Test"
  "test/unit/Schedule/Random(Contraction|Map).*"
  "test/unit/API/Execution/RuntimeDims.*Test"
  "test/unit/Transforms/(Eltwise|ExpandNarrowFloats)Test"
  "tools/quern-bench/(Comparison|.*Problem)"
)
if(NOT QUERN_UNITY STREQUAL ALL)
  list(APPEND QUERN_UNITY_ALONE "(lib|runtime|tools/quern|tools/quern-opt|tools/support)/.*")
endif()

# Sets `result` to ON if a source, named relative to the root, is compiled separately.
function(quern_is_alone name result)
  set(${result} OFF PARENT_SCOPE)
  foreach(pattern IN LISTS QUERN_UNITY_ALONE)
    if(name MATCHES "^${pattern}\\.cpp$")
      set(${result} ON PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

function(quern_unity directory)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "EXECUTABLE|LIBRARY" AND NOT type STREQUAL INTERFACE_LIBRARY)
      get_target_property(sources ${target} SOURCES)
      get_target_property(here ${target} SOURCE_DIR)
      get_target_property(headers ${target} PRECOMPILE_HEADERS)
      if(headers)
        continue() # the precompiled header already saves most of it
      endif()
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
      foreach(source IN LISTS sources)
        if(source MATCHES "\\.cpp$")
          cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${here} NORMALIZE OUTPUT_VARIABLE path)
          cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
          cmake_path(GET name PARENT_PATH group)
          string(REPLACE "/" "-" group ${group})
          quern_is_alone(${name} is_alone)
          if(NOT is_alone)
            set_source_files_properties(${path} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
          endif()
        endif()
      endforeach()
    endif()
  endforeach()
  get_property(children DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(child IN LISTS children)
    quern_unity(${child})
  endforeach()
endfunction()
