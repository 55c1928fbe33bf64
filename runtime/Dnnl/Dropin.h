//===- Dropin.h - What the parts of the drop-in share ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The drop-in is a library of its own above libquern's C interface: oneDNN's functions, enums and structs are
// libquern's under other names, so its code speaks of quern_ types throughout. An enum of oneDNN's that libquern
// does not have is an int here.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_DNNL_DROPIN_H
#define QUERN_RUNTIME_DNNL_DROPIN_H

#include "quern/quern.h"

#include <string_view>

namespace quern::dropin {

/// Hands oneDNN's environment variables on to libquern, at the first call in a process. What a program sets by a
/// function comes later and wins, so every function that reads or sets such a value calls this first.
void readEnvironment() noexcept;

/// What ONEDNN_JIT_DUMP and ONEDNN_JIT_PROFILE say; flags as of dnnl_set_jit_profiling_flags().
void configureJit(int dump, int profile) noexcept;

/// Fails with `unimplemented`. With verbose on there is a line for it: "primitive,create:dispatch", the kind of a
/// primitive and the name of the function that creates it, or "common" and the name of another function.
quern_status_t refusePrimitive(const char *kind, const char *function) noexcept;
quern_status_t refuse(const char *function) noexcept;

/// `lower` has no capitals.
bool sameIgnoringCase(std::string_view name, std::string_view lower) noexcept;

/// The value behind a name of the table of instruction sets ("avx2", any case), or -1.
int cpuIsaOf(std::string_view name) noexcept;

/// The name of a format tag, or null for a value that is none.
const char *formatTagName(int tag) noexcept;

} // namespace quern::dropin

// Functions of the drop-in that its own parts call.
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
