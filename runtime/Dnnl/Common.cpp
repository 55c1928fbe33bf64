//===- Common.cpp - Version, settings, environment, verbose ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Settings of the process, by functions or by environment variables of oneDNN. Each variable is read as ONEDNN_X, or as
// DNNL_X if that is unset.
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Dropin.h"
#include "Dnnl/Verbose.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

using namespace quern::dropin;

namespace {

constexpr int hintsUnknown = -1;
std::atomic<int> isaHints{hintsUnknown}, givenHints{0};
std::atomic<bool> isIsaSet{false};

/// Returns the value of ONEDNN_X or DNNL_X; empty if both are unset.
std::string_view variable(const char *name) {
  for (const char *prefix : {"ONEDNN_", "DNNL_"})
    if (const char *text = secure_getenv((std::string(prefix) + name).c_str()))
      return text;
  return {};
}

int integerOf(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<int> fpmathModeOf(std::string_view text) {
  constexpr std::string_view names[] = {"strict", "bf16", "f16", "any", "tf32"};
  for (int mode = 0; mode < 5; ++mode)
    if (sameIgnoringCase(text, names[mode]))
      return mode;
  return std::nullopt;
}

void applyEnvironment() {
  configureVerbose(variable("VERBOSE"), integerOf(variable("VERBOSE_TIMESTAMP")) != 0);
  if (const int dump = integerOf(variable("JIT_DUMP")), profile = integerOf(variable("JIT_PROFILE")); dump || profile)
    configureJit(dump, profile);
  if (const std::optional<int> mode = fpmathModeOf(variable("DEFAULT_FPMATH_MODE")))
    quern_set_default_fpmath_mode(static_cast<quern_fpmath_mode_t>(*mode));
  if (const int isa = cpuIsaOf(variable("MAX_CPU_ISA")); isa >= 0)
    quern_set_max_cpu_isa(static_cast<quern_cpu_isa_t>(isa));
  givenHints = sameIgnoringCase(variable("CPU_ISA_HINTS"), "prefer_ymm") ? 1 : 0;
  const std::string_view capacity = variable("PRIMITIVE_CACHE_CAPACITY");
  if (int value = 0; std::from_chars(capacity.data(), capacity.data() + capacity.size(), value).ec == std::errc())
    quern_set_primitive_cache_capacity(value);
}

/// Prints a line with the fields `event` and `rest` if enabled, and returns quern_unimplemented.
quern_status_t refuseWith(const char *event, const char *component, const std::string &rest) {
  readEnvironment();
  if (isVerbose(VerboseCreateDispatch))
    printVerbose(component, std::string(event) + ",create:dispatch," + rest);
  return quern_unimplemented;
}

/// Initialized when the library is loaded.
const quern_version_t version{
    3, 13, 2, quern_version()->hash, quern_version()->cpu_runtime, quern_version()->gpu_runtime};

} // namespace

void quern::dropin::readEnvironment() noexcept {
  static std::once_flag once;
  try {
    std::call_once(once, applyEnvironment);
  } catch (...) { // out of memory: the variables are treated as unset
  }
}

quern_status_t quern::dropin::refusePrimitive(const char *kind, const char *function) noexcept {
  try {
    return refuseWith("primitive", kind, std::string(kind) + ",it is not supported by Quern," + function);
  } catch (...) { // out of memory: no line is printed
    return quern_unimplemented;
  }
}

quern_status_t quern::dropin::refuse(const char *function) noexcept {
  try {
    return refuseWith("common", "common", std::string(function) + " is not supported by Quern");
  } catch (...) {
    return quern_unimplemented;
  }
}

extern "C" {

/// Returns the version of oneDNN whose interface this is. The hash is the build id of Quern.
QUERN_API const quern_version_t *dnnl_version(void) noexcept { return &version; }

QUERN_API quern_status_t dnnl_engine_create(quern_engine_t *engine, quern_engine_kind_t kind, size_t index) noexcept {
  readEnvironment();
  return quern_engine_create(engine, kind, index);
}

QUERN_API quern_status_t dnnl_set_verbose(int level) noexcept {
  if (level < 0 || level > 2)
    return quern_invalid_arguments;
  readEnvironment();
  constexpr unsigned kinds[] = {0, VerboseError | VerboseExecProfile, VerboseError | VerboseProfiles};
  setVerbose(kinds[level]);
  return quern_success;
}

QUERN_API quern_status_t dnnl_verbose_profiling_enabled(int *enabled) noexcept {
  if (!enabled)
    return quern_invalid_arguments;
  readEnvironment();
  *enabled = isVerbose(VerboseProfiles);
  return quern_success;
}

QUERN_API quern_status_t dnnl_get_default_fpmath_mode(quern_fpmath_mode_t *mode) noexcept {
  readEnvironment();
  return quern_get_default_fpmath_mode(mode);
}

QUERN_API quern_status_t dnnl_set_default_fpmath_mode(quern_fpmath_mode_t mode) noexcept {
  readEnvironment();
  return quern_set_default_fpmath_mode(mode);
}

QUERN_API quern_status_t dnnl_get_primitive_cache_capacity(int *capacity) noexcept {
  readEnvironment();
  return quern_get_primitive_cache_capacity(capacity);
}

QUERN_API quern_status_t dnnl_set_primitive_cache_capacity(int capacity) noexcept {
  readEnvironment();
  return quern_set_primitive_cache_capacity(capacity);
}

/// Succeeds once per process, before the instruction set is in use.
QUERN_API quern_status_t dnnl_set_max_cpu_isa(quern_cpu_isa_t isa) noexcept {
  readEnvironment();
  if (isIsaSet.load(std::memory_order_relaxed))
    return quern_invalid_arguments;
  const quern_status_t status = quern_set_max_cpu_isa(isa);
  isIsaSet.store(status == quern_success, std::memory_order_relaxed);
  return status;
}

/// Returns cpu_isa_default on AArch64, because oneDNN's levels are those of x86-64.
QUERN_API quern_cpu_isa_t dnnl_get_effective_cpu_isa(void) noexcept {
  readEnvironment();
  const quern_cpu_isa_t isa = quern_get_effective_cpu_isa();
  return isa >= quern_cpu_isa_neon ? quern_cpu_isa_default : isa;
}

/// Stores a hint that has no effect, because the strategy of each problem chooses the vector width. It can be set once,
/// before it is read.
QUERN_API quern_status_t dnnl_set_cpu_isa_hints(int hints) noexcept {
  if (hints != 0 && hints != 1)
    return quern_invalid_arguments;
  int unknown = hintsUnknown;
  return isaHints.compare_exchange_strong(unknown, hints, std::memory_order_relaxed) ? quern_success
                                                                                     : quern_runtime_error;
}

QUERN_API int dnnl_get_cpu_isa_hints(void) noexcept {
  readEnvironment();
  int known = hintsUnknown;
  return isaHints.compare_exchange_strong(known, givenHints, std::memory_order_relaxed) ? givenHints.load() : known;
}

} // extern "C"
