//===- Plugin.cpp - The plugin's entry for mlir-opt ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Plugin/Passes.h"

#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

extern "C" __attribute__((visibility("default"))) mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "quern", LLVM_VERSION_STRING, [] {
            mlir::registerPass(quern::plugin::createOutlinePass);
            mlir::registerPass(quern::plugin::createToLlvmPass);
          }};
}
