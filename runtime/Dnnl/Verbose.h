//===- Verbose.h - The lines of ONEDNN_VERBOSE ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Prints the lines of oneDNN 3.13 on standard output: fields separated by commas, the first two "onednn_verbose" and
// "v1". Lines about primitives are printed for events of libquern.
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

/// Applies the value of ONEDNN_VERBOSE: words separated by commas; unknown words are ignored. With `timestamps`, lines
/// have a field after the version: the start time of their event in ms since 1970.
void configureVerbose(std::string_view text, bool timestamps);
/// Sets the kinds of lines that are printed.
void setVerbose(unsigned kinds) noexcept;
bool isVerbose(unsigned kinds) noexcept;

/// Prints a line about a component ("softmax", "memory") unless the filter excludes it. `line` is the text after the
/// version, without a newline; `ms` is the time since its event began. The first line is preceded by lines about the
/// library.
void printVerbose(std::string_view component, const std::string &line, double ms = 0);

/// Returns a number with at most six digits.
std::string textOf(double value);
/// Returns the fields of a line about a primitive, without the time: "cpu,softmax,…,1x16". Open sizes are those of the
/// arguments of an execution.
std::string describe(const_quern_primitive_desc_t desc, int nargs = 0, const quern_exec_arg_t *args = nullptr);
/// Returns a tensor's field, such as "src:f32::blocked:ab::f0".
std::string describeTensor(std::string_view name, const_quern_memory_desc_t desc, bool wasAny = false);
/// Returns the field of attributes, such as "attr-scratchpad:user attr-post-ops:sum:0.5". `sources` is the number of
/// sources in a list (sum, concat).
std::string describeAttributes(const_quern_primitive_attr_t attr, int sources, bool showsAccumulation);

} // namespace quern::dropin

#endif // QUERN_RUNTIME_DNNL_VERBOSE_H
