//===- TraceParts.h - Additional parts of a trace -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_TRACEPARTS_H
#define QUERN_COMPILER_TRACEPARTS_H

#include "Artifact/Artifact.h"
#include "Compiler/Stages.h"
#include "IR/Launch.h"
#include "Primitives/Arguments.h"

#include "llvm/Support/JSON.h"

namespace quern {

/// Returns the result of each recipe for each problem of an emitted module, which is not modified: [{"problem",
/// "opinions": [{"recipe", "takes", "why"}]}]. `why` is the plan if the recipe supports the problem. Recipes are in the
/// target's order; the first that supports a problem schedules it.
llvm::json::Array opinionsAsJson(mlir::ModuleOp module, const Backend &backend, const Target &target);

/// Returns the launch program:
/// `{"buffers": [{"name", "kind", "bytes"}], "steps": [{"kernel", "iterations", "buffers", "independent"}],`
/// `"loops": [{"trips", "first", "end"}]}`. Numbers that an execution computes are text. A step's buffers are
/// [position, offset].
llvm::json::Object programAsJson(const Artifact &artifact, const std::vector<ArgumentInfo> &arguments,
                                 llvm::ArrayRef<Launch::Region> regions);

} // namespace quern

#endif // QUERN_COMPILER_TRACEPARTS_H
