//===- Verbose.cpp - Settings of verbose lines, and their events ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each line is one write, so lines of several threads do not mix.
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Verbose.h"

#include "Dnnl/Dropin.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <regex.h>
#include <vector>

using namespace quern::dropin;

namespace {

/// Settings of ONEDNN_VERBOSE. All except the kinds are written once, before the first line.
struct Settings {
  std::atomic<unsigned> kinds{VerboseError};
  bool timestamps = false;
  bool isFiltered = false;
  std::vector<std::string_view> components; ///< components that the filter accepts
  std::string filterLine;                   ///< line of the header about the filter
  std::once_flag header;
};

// Created when the library is loaded, because otherwise a fork could happen while another thread creates it. Never
// destroyed, because threads may still run at exit.
Settings &settingsOfProcess = *new Settings;

Settings &settings() { return settingsOfProcess; }

// clang-format off: rows of names
constexpr std::string_view componentNames[] = {
    "primitive", "reorder", "shuffle", "concat", "sum", "convolution", "deconvolution", "eltwise", "lrn",
    "inner_product", "rnn", "binary", "matmul", "resampling", "batch_normalization", "pooling", "reduction",
    "prelu", "softmax", "gemm_api", "graph", "ukernel", "layer_normalization", "group_normalization",
};
// clang-format on

/// Sets the components whose names match `pattern`, an extended regular expression.
void setFilter(const std::string &pattern) {
  Settings &to = settings();
  const std::string refused = "common,error,filter format is ill-formed and is not applied, error: ";
  regex_t expression;
  if (const int error = regcomp(&expression, pattern.c_str(), REG_EXTENDED | REG_NOSUB)) {
    char reason[128];
    regerror(error, &expression, reason, sizeof(reason));
    to.filterLine = refused + reason;
    return;
  }
  std::string hit;
  for (std::string_view name : componentNames) { // each is a literal, hence terminated
    if (regexec(&expression, name.data(), 0, nullptr, 0) != 0)
      continue;
    hit.append(hit.empty() ? "" : ",").append(name);
    to.components.push_back(name);
  }
  regfree(&expression);
  to.isFiltered = !to.components.empty();
  to.filterLine = to.isFiltered ? "common,info,filter format is enabled, hit components: " + hit
                                : refused + "component with name '" + pattern + "' not found";
}

unsigned kindsOf(std::string_view word, unsigned kinds) {
  struct Level {
    std::string_view name;
    unsigned kinds;
  };
  constexpr Level levels[] = {{"1", VerboseError | VerboseExecProfile},
                              {"2", VerboseError | VerboseProfiles},
                              {"all", VerboseAll},
                              {"-1", VerboseAll},
                              {"error", VerboseError},
                              {"check", VerboseCreateCheck | VerboseExecCheck},
                              {"dispatch", VerboseCreateDispatch},
                              {"profile", VerboseProfiles},
                              {"profile_create", VerboseCreateProfile},
                              {"profile_exec", VerboseExecProfile}};
  if (word == "0" || word == "none")
    return 0;
  for (const Level &level : levels)
    if (word == level.name)
      return kinds | level.kinds;
  return kinds;
}

const char *nameOfIsa() {
  switch (quern_get_effective_cpu_isa()) {
  case quern_cpu_isa_sse41:
    return "Intel SSE4.1";
  case quern_cpu_isa_avx2:
    return "Intel AVX2";
  case quern_cpu_isa_avx512_core:
    return "Intel AVX-512 with AVX512BW, AVX512VL, and AVX512DQ extensions";
  case quern_cpu_isa_avx512_core_vnni:
    return "Intel AVX-512 with Intel DL Boost";
  case quern_cpu_isa_avx512_core_bf16:
    return "Intel AVX-512 with Intel DL Boost and bfloat16 support";
  case quern_cpu_isa_avx10_1_512:
    return "Intel AVX 10.1";
  case quern_cpu_isa_neon:
  case quern_cpu_isa_neon_dotprod:
  case quern_cpu_isa_neon_bf16:
    return "AArch64 (with Advanced SIMD & floating-point)";
  case quern_cpu_isa_sve:
  case quern_cpu_isa_sve_bf16:
    return "AArch64 SVE";
  default:
    return "Intel AVX10.1 and Intel AMX with bfloat16 and 8-bit integer support";
  }
}

void write(const std::string &line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

void printHeader() {
  const std::string start = "onednn_verbose,v1,";
  const quern_version_t &version = *dnnl_version();
  int threads = 1;
  quern_get_num_threads(&threads);
  std::string lines = start + "info,oneDNN v" + std::to_string(version.major) + "." + std::to_string(version.minor) +
                      "." + std::to_string(version.patch) + " (commit " + version.hash + ")\n";
  const quern_version_t &quernVersion = *quern_version();
  lines += start + "info,Quern v" + std::to_string(quernVersion.major) + "." + std::to_string(quernVersion.minor) +
           "." + std::to_string(quernVersion.patch) + "\n";
  lines +=
      start + "info,cpu,runtime:" + dnnl_runtime2str(version.cpu_runtime) + ",nthr:" + std::to_string(threads) + "\n";
  lines += start + "info,cpu,isa:" + nameOfIsa() + "\n";
  lines += start + "info,gpu,runtime:" + dnnl_runtime2str(version.gpu_runtime) + "\n";
  lines += start + "primitive,info,template:" + (settings().timestamps ? "timestamp," : "") +
           "operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,auxiliary,problem_desc,"
           "exec_time\n";
  if (!settings().filterLine.empty())
    lines += start + settings().filterLine + "\n";
  write(lines);
}

void printCreated(const quern_event_t &event) {
  const double ms = static_cast<double>(event.ns) * 1e-6;
  const char *origin = event.origin == quern_origin_memory ? "cache_hit"
                       : event.origin == quern_origin_blob ? "from_cache_blob"
                                                           : "cache_miss";
  quern_primitive_kind_t kind = quern_undefined_primitive;
  quern_primitive_desc_query(event.primitive_desc, quern_query_primitive_kind, 0, &kind);
  printVerbose(dnnl_prim_kind2str(kind),
               std::string("primitive,create:") + origin + "," + describe(event.primitive_desc) + "," + textOf(ms), ms);
}

void printExecuted(const quern_event_t &event) {
  const double ms = static_cast<double>(event.ns) * 1e-6;
  quern_primitive_kind_t kind = quern_undefined_primitive;
  quern_primitive_desc_query(event.primitive_desc, quern_query_primitive_kind, 0, &kind);
  printVerbose(dnnl_prim_kind2str(kind),
               "primitive,exec," + describe(event.primitive_desc, event.nargs, event.args) + "," + textOf(ms), ms);
}

/// Component of a function, and whether its lines are about a primitive: "softmax" for
/// "softmax_forward_primitive_desc_create".
struct Component {
  std::string_view name;
  bool isPrimitive;
};
Component componentOf(std::string_view function) {
  if (function.find("_primitive_desc_create") != function.npos) {
    for (std::string_view name : componentNames)
      if (function.starts_with(name))
        return {name, true};
    return {"rnn", true}; // named after its cell
  }
  if (function.find("gemm") != function.npos)
    return {"gemm_api", true};
  if (function.starts_with("primitive_attr") || function.starts_with("post_ops"))
    return {"attributes", false};
  if (function.starts_with("primitive"))
    return {"primitive", true};
  return {function.substr(0, function.find('_')), false};
}

/// Returns the first line of a message as one field.
std::string fieldOf(std::string_view message) {
  std::string field(message.substr(0, message.find('\n')));
  std::replace(field.begin(), field.end(), ',', ';');
  return field;
}

void printFailed(const quern_event_t &event) {
  const std::string_view function = std::string_view(event.function).substr(std::string_view("quern_").size());
  const Component component = componentOf(function);
  const bool isExecution = function == "primitive_execute";
  unsigned kind = VerboseError;
  const char *what = "error";
  if (event.status == quern_invalid_arguments) {
    kind = isExecution ? VerboseExecCheck : VerboseCreateCheck;
    what = isExecution ? "exec:check" : "create:check";
  } else if (event.status == quern_unimplemented) {
    kind = VerboseCreateDispatch;
    what = "create:dispatch";
  }
  if (!isVerbose(kind))
    return;
  std::string line = component.isPrimitive ? "primitive," : "common,";
  line.append(what)
      .append(",")
      .append(component.name)
      .append(",")
      .append(fieldOf(event.message))
      .append(",dnnl_")
      .append(function);
  printVerbose(component.name, line);
}

void onEvent(void *, const quern_event_t *event) {
  try {
    if (event->kind == quern_event_create)
      printCreated(*event);
    else if (event->kind == quern_event_execute)
      printExecuted(*event);
    else
      printFailed(*event);
  } catch (...) { // out of memory: no line is printed
  }
}

} // namespace

std::string quern::dropin::textOf(double value) {
  char text[32]; // %g, but independent of locale and rounding mode
  constexpr int digits = 6;
  return {text, std::to_chars(text, text + sizeof(text), value, std::chars_format::general, digits).ptr};
}

void quern::dropin::configureVerbose(std::string_view text, bool timestamps) {
  settings().timestamps = timestamps;
  constexpr std::string_view filter = "filter=";
  unsigned kinds = VerboseError;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    kinds = kindsOf(word, kinds);
    if (word.starts_with(filter) && word.size() > filter.size())
      setFilter(std::string(word.substr(filter.size())));
    start = end + 1;
  }
  setVerbose(kinds);
}

void quern::dropin::setVerbose(unsigned kinds) noexcept {
  settings().kinds.store(kinds, std::memory_order_relaxed);
  unsigned events = 0;
  if (kinds & VerboseCreateProfile)
    events |= quern_event_create;
  if (kinds & VerboseExecProfile)
    events |= quern_event_execute;
  if (kinds & (VerboseError | VerboseCreateCheck | VerboseExecCheck | VerboseCreateDispatch))
    events |= quern_event_fail;
  quern_set_listener(onEvent, nullptr, events);
}

bool quern::dropin::isVerbose(unsigned kinds) noexcept {
  return (settings().kinds.load(std::memory_order_relaxed) & kinds) != 0;
}

void quern::dropin::printVerbose(std::string_view component, const std::string &line, double ms) {
  const Settings &by = settings();
  if (by.isFiltered && std::find(by.components.begin(), by.components.end(), component) == by.components.end())
    return;
  std::call_once(settings().header, printHeader);
  std::string stamp;
  if (by.timestamps) {
    const auto now = std::chrono::duration<double, std::milli>(std::chrono::system_clock::now().time_since_epoch());
    char text[40];
    std::snprintf(text, sizeof(text), "%.6f,", now.count() - ms);
    stamp = text;
  }
  write("onednn_verbose,v1," + stamp + line + "\n");
}
