//===- quern/quern_settings.hpp - Settings of the process in C++ ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Functions for the settings of quern_common.h, the caches of quern_cache.h, the packs of quern_pack.h and the servers
// of quern_remote.h.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SETTINGS_HPP
#define QUERN_SETTINGS_HPP

#include "quern/quern_handle.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace quern {

/// See quern_cpu_isa_t.
enum class cpu_isa {
  isa_default = quern_cpu_isa_default,
  sse41 = quern_cpu_isa_sse41,
  avx = quern_cpu_isa_avx,
  avx2 = quern_cpu_isa_avx2,
  avx2_vnni = quern_cpu_isa_avx2_vnni,
  avx2_vnni_2 = quern_cpu_isa_avx2_vnni_2,
  avx512_core = quern_cpu_isa_avx512_core,
  avx512_core_vnni = quern_cpu_isa_avx512_core_vnni,
  avx512_core_bf16 = quern_cpu_isa_avx512_core_bf16,
  avx10_1_512 = quern_cpu_isa_avx10_1_512,
  avx512_core_fp16 = avx10_1_512,
  avx10_1_512_amx = quern_cpu_isa_avx10_1_512_amx,
  avx512_core_amx = avx10_1_512_amx,
  avx10_1_512_amx_fp16 = quern_cpu_isa_avx10_1_512_amx_fp16,
  avx512_core_amx_fp16 = avx10_1_512_amx_fp16,
  neon = quern_cpu_isa_neon,
  neon_dotprod = quern_cpu_isa_neon_dotprod,
  neon_bf16 = quern_cpu_isa_neon_bf16,
  sve = quern_cpu_isa_sve,
  sve_bf16 = quern_cpu_isa_sve_bf16
};

/// See quern_set_max_cpu_isa(). Returns the status instead of throwing, as in dnnl.hpp.
inline status set_max_cpu_isa(cpu_isa isa) {
  return static_cast<status>(quern_set_max_cpu_isa(static_cast<quern_cpu_isa_t>(isa)));
}
/// See quern_get_effective_cpu_isa().
inline cpu_isa get_effective_cpu_isa() { return static_cast<cpu_isa>(quern_get_effective_cpu_isa()); }
/// See quern_set_verbose().
inline status set_verbose(int level) { return static_cast<status>(quern_set_verbose(level)); }

/// See quern_get_primitive_cache_capacity().
inline int get_primitive_cache_capacity() {
  int capacity = 0;
  error::wrap_c_api(quern_get_primitive_cache_capacity(&capacity), "could not get the capacity of the primitive cache");
  return capacity;
}
/// See quern_set_primitive_cache_capacity().
inline void set_primitive_cache_capacity(int capacity) {
  error::wrap_c_api(quern_set_primitive_cache_capacity(capacity), "could not set the capacity of the primitive cache");
}

/// See quern_add_pack().
inline void add_pack(const std::string &path) {
  error::wrap_c_api(quern_add_pack(path.c_str()), "could not add a pack");
}
/// See quern_add_pack_data(). The bytes are not copied.
inline void add_pack_data(const void *data, size_t size) {
  error::wrap_c_api(quern_add_pack_data(data, size), "could not add a pack from memory");
}
/// See quern_remove_pack_data().
inline void remove_pack_data(const void *data) {
  error::wrap_c_api(quern_remove_pack_data(data), "could not remove a pack from memory");
}

/// See quern_set_remote_cache().
inline void set_remote_cache(const quern_remote_cache_t &remote) {
  error::wrap_c_api(quern_set_remote_cache(&remote), "could not set the remote cache");
}
/// See quern_get_remote_statistics().
inline quern_remote_statistics_t get_remote_statistics() {
  quern_remote_statistics_t statistics{};
  error::wrap_c_api(quern_get_remote_statistics(&statistics), "could not get the statistics of the remote cache");
  return statistics;
}
/// See quern_flush_remote_cache().
inline void flush_remote_cache(int milliseconds) {
  error::wrap_c_api(quern_flush_remote_cache(milliseconds), "could not flush the remote cache");
}

/// Returns the durations in ns of the executions on a profiling stream since the last reset.
inline std::vector<uint64_t> get_profiling_data(
        const stream &astream, quern_profiling_data_kind_t kind = quern_profiling_data_kind_time) {
  int count = 0;
  error::wrap_c_api(quern_query_profiling_data(astream.get(), kind, &count, nullptr),
          "could not get the number of profiling entries");
  std::vector<uint64_t> data(static_cast<size_t>(count));
  if (count > 0)
    error::wrap_c_api(
            quern_query_profiling_data(astream.get(), kind, &count, data.data()), "could not get profiling data");
  return data;
}
/// See quern_reset_profiling().
inline void reset_profiling(const stream &astream) {
  error::wrap_c_api(quern_reset_profiling(astream.get()), "could not reset profiling");
}

} // namespace quern

#endif // QUERN_SETTINGS_HPP
