//===- Module.cpp - The module quern._quern -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The functions that the package's Python code uses, and the settings of the process.
//
//===----------------------------------------------------------------------===//
#include "Function.h"
#include "TorchPool.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace quern::python {
namespace {

nb::bytes takeBlob(quern_blob_t blob) {
  const Owned<quern_blob_t, quern_blob_destroy> owned(blob);
  const void *data = nullptr;
  size_t size = 0;
  check(quern_blob_get_data(blob, &data, &size));
  return nb::bytes(data, size);
}

nb::bytes compile(const std::string &line, const std::optional<std::string> &target, int form) {
  quern_blob_t blob = nullptr;
  quern_status_t status = quern_success;
  {
    const nb::gil_scoped_release released;
    status =
        quern_compile(line.c_str(), target ? target->c_str() : nullptr, static_cast<quern_code_form_t>(form), &blob);
  }
  check(status);
  return takeBlob(blob);
}

nb::bytes explain(const std::string &line, const std::optional<std::string> &target) {
  quern_blob_t blob = nullptr;
  quern_status_t status = quern_success;
  {
    const nb::gil_scoped_release released;
    status = quern_explain(line.c_str(), target ? target->c_str() : nullptr, &blob);
  }
  check(status);
  return takeBlob(blob);
}

nb::dict statistics() {
  quern_cache_statistics_t numbers{};
  check(quern_get_cache_statistics(&numbers));
  nb::dict result;
  result["memory_hits"] = numbers.memory_hits;
  result["memory_misses"] = numbers.memory_misses;
  result["memory_evictions"] = numbers.memory_evictions;
  result["memory_entries"] = numbers.memory_entries;
  result["memory_bytes"] = numbers.memory_bytes;
  result["disk_hits"] = numbers.disk_hits;
  result["disk_misses"] = numbers.disk_misses;
  result["disk_rejected"] = numbers.disk_rejected;
  result["disk_stores"] = numbers.disk_stores;
  result["disk_store_failures"] = numbers.disk_store_failures;
  result["disk_evictions"] = numbers.disk_evictions;
  result["compilations"] = numbers.compilations;
  result["pack_hits"] = numbers.pack_hits;
  result["pack_rejected"] = numbers.pack_rejected;
  return result;
}

/// Returns (kind, name, target) of each device.
nb::list devices() {
  nb::list list;
  for (const quern_engine_kind_t kind : {quern_cpu, quern_gpu})
    for (size_t index = 0; index < quern_engine_get_count(kind); ++index) {
      quern_engine_t made = nullptr;
      check(quern_engine_create(&made, kind, index));
      const Owned<quern_engine_t, quern_engine_destroy> engine(made);
      quern_engine_info_t info{};
      check(quern_engine_get_info(made, &info));
      list.append(nb::make_tuple(kind == quern_cpu ? "cpu" : "gpu", info.name, info.target));
    }
  return list;
}

void bindSettings(nb::module_ &module) {
  const auto count = [](auto get) {
    return [get] {
      int value = 0;
      check(get(&value));
      return value;
    };
  };
  module.def("num_threads", count(quern_get_num_threads));
  module.def("set_num_threads", [](int value) { check(quern_set_num_threads(value)); });
  module.def("cache_capacity", count(quern_get_primitive_cache_capacity));
  module.def("set_cache_capacity", [](int value) { check(quern_set_primitive_cache_capacity(value)); });
  module.def("set_cache_capacity_bytes", [](size_t value) { check(quern_set_primitive_cache_capacity_bytes(value)); });
  module.def("disk_cache", [] {
    const char *folder = nullptr;
    check(quern_get_disk_cache(&folder));
    return folder;
  });
  module.def("set_disk_cache", [](const std::string &folder) { check(quern_set_disk_cache(folder.c_str())); });
  module.def("set_disk_cache_capacity", [](size_t bytes) { check(quern_set_disk_cache_capacity(bytes)); });
  module.def("add_pack", [](const std::string &path) { check(quern_add_pack(path.c_str())); });
  module.def("set_verbose", [](int level) { check(quern_set_verbose(level)); });
  module.def("version", [] {
    const quern_version_t *version = quern_version();
    return nb::make_tuple(version->major, version->minor, version->patch, version->hash);
  });
}

void bindModule(nb::module_ &module) {
  bindErrors(module);
  bindProblems(module);
  bindFunctions(module);
  bindSettings(module);
  module.def("compile", compile);
  module.def("explain", explain);
  module.def("statistics", statistics);
  module.def("devices", devices);
  module.def("torch_handles", [] {
    return nb::make_tuple(reinterpret_cast<uintptr_t>(cpuEngine()), reinterpret_cast<uintptr_t>(torchStream()));
  });
  module.def("has_torch_threads", [] { return torchStream() != cpuStream(); });
}

} // namespace
} // namespace quern::python

NB_MODULE(_quern, module) {
  nb::set_leak_warnings(false); // functions are never destroyed
  quern::python::bindModule(module);
}
