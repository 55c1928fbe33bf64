//===- Dropin.h - Functions that the parts of the drop-in share -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The drop-in is a separate library on top of the C API of libquern. The functions, enumerations and structures of
// oneDNN are those of libquern under other names, so the code uses quern_ types. An enumeration that libquern lacks is
// an int.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_DNNL_DROPIN_H
#define QUERN_RUNTIME_DNNL_DROPIN_H

#include "quern/quern.h"

#include <string_view>

namespace quern::dropin {

/// Applies the environment variables of oneDNN to libquern at the first call in a process. Functions override
/// variables, so functions that read or set such a value call this first.
void readEnvironment() noexcept;

/// Sets the values of ONEDNN_JIT_DUMP and ONEDNN_JIT_PROFILE; `profile` is as in dnnl_set_jit_profiling_flags().
void configureJit(int dump, int profile) noexcept;

/// Return quern_unimplemented. If verbose is on, they print a line: "primitive,create:dispatch" with the kind of the
/// primitive and the name of the function that creates it, or "common" with the name of another function.
quern_status_t refusePrimitive(const char *kind, const char *function) noexcept;
quern_status_t refuse(const char *function) noexcept;

/// Compares `name`, ignoring case, with `lower`, which must be lower-case.
bool sameIgnoringCase(std::string_view name, std::string_view lower) noexcept;

/// Returns the value of a named instruction set ("avx2", any case); -1 if the name is unknown.
int cpuIsaOf(std::string_view name) noexcept;

/// Returns the name of a format tag; null for an unknown value.
const char *formatTagName(int tag) noexcept;

} // namespace quern::dropin

// Exported functions that other parts of the drop-in call.
extern "C" {
const quern_version_t *dnnl_version(void) noexcept;
const char *dnnl_dt2str(unsigned value) noexcept;
const char *dnnl_fmt_kind2str(unsigned value) noexcept;
const char *dnnl_prim_kind2str(unsigned value) noexcept;
const char *dnnl_prop_kind2str(unsigned value) noexcept;
const char *dnnl_alg_kind2str(unsigned value) noexcept;
const char *dnnl_rnn_direction2str(unsigned value) noexcept;
const char *dnnl_scratchpad_mode2str(unsigned value) noexcept;
const char *dnnl_fpmath_mode2str(unsigned value) noexcept;
const char *dnnl_accumulation_mode2str(unsigned value) noexcept;
const char *dnnl_runtime2str(unsigned value) noexcept;
}

#endif // QUERN_RUNTIME_DNNL_DROPIN_H
