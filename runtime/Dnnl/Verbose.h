//===- Verbose.h - Lines as ONEDNN_VERBOSE asks for them ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// oneDNN 3.13's lines on standard output: fields with commas between them, the first two "onednn_verbose" and "v1".
// What is printed about primitives comes from libquern as events.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_DNNL_VERBOSE_H
#define QUERN_RUNTIME_DNNL_VERBOSE_H

#include "quern/quern.h"

#include <string>
#include <string_view>

namespace quern::dropin {

/// Kinds of lines.
enum Verbose : unsigned {
  VerboseError = 1,
  VerboseCreateCheck = 2,
  VerboseCreateDispatch = 4,
  VerboseCreateProfile = 8,
  VerboseExecCheck = 16,
  VerboseExecProfile = 32,
  VerboseProfiles = VerboseCreateProfile | VerboseExecProfile,
  VerboseAll = 63
};

/// `text` is the value of ONEDNN_VERBOSE: words with commas between them, of which unknown ones are ignored.
/// `timestamps` puts the time at which each line's event began, in ms since 1970, behind the version.
void configureVerbose(std::string_view text, bool timestamps);
/// Kinds of lines from now on.
void setVerbose(unsigned kinds) noexcept;
bool isVerbose(unsigned kinds) noexcept;

/// A line about this component ("softmax", "memory"), unless the filter leaves it out. `line` begins behind the
/// version and ends without the line's end; `ms` is how long ago its event began. Before the first one comes
/// what is said of the library.
void printVerbose(std::string_view component, const std::string &line, double ms = 0);

/// A number as lines have it: six digits at most.
std::string textOf(double value);
/// "cpu,softmax,…,1x16" of a primitive: what a line about its creation or execution says but for the time. Sizes that
/// are open in the primitive are taken from the arguments of an execution.
std::string describe(const_quern_primitive_desc_t desc, int nargs = 0, const quern_exec_arg_t *args = nullptr);
/// "src:f32::blocked:ab::f0".
std::string describeTensor(std::string_view name, const_quern_memory_desc_t desc, bool wasAny = false);
/// "attr-scratchpad:user attr-post-ops:sum:0.5" of a primitive with `sources` sources in a list (sum, concat).
std::string describeAttributes(const_quern_primitive_attr_t attr, int sources, bool showsAccumulation);

} // namespace quern::dropin

#endif // QUERN_RUNTIME_DNNL_VERBOSE_H
