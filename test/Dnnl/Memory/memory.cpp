// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks engines, streams and memory: handles, mapping, memory without a buffer, shared handles, misuse.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include "oneapi/dnnl/dnnl_debug.h"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

static void show(const char *name, dnnl_status_t status) { std::printf("%s: %s\n", name, dnnl_status2str(status)); }

static void objects(engine &eng) {
  dnnl_engine_t none = nullptr;
  show("no such engine", dnnl_engine_create(&none, dnnl_cpu, 7));
  show("null engine", dnnl_engine_create(nullptr, dnnl_cpu, 0));
  dnnl_engine_kind_t kind = dnnl_any_engine;
  show("kind", dnnl_engine_get_kind(eng.get(), &kind));
  std::printf("%s\n", dnnl_engine_kind2str(kind));

  dnnl_stream_t strm = nullptr;
  show("stream", dnnl_stream_create(&strm, eng.get(), dnnl_stream_default_flags));
  dnnl_engine_t back = nullptr;
  show("its engine", dnnl_stream_get_engine(strm, &back));
  show("wait", dnnl_stream_wait(strm));
  show("destroy", dnnl_stream_destroy(strm));
  show("null stream", dnnl_stream_create(nullptr, eng.get(), dnnl_stream_default_flags));
  show("null wait", dnnl_stream_wait(nullptr));
}

static void buffers(engine &eng) {
  const memory::desc desc({2, 3}, type::s32, tag::ab);
  memory own(desc, eng);
  fill<int32_t>(own, {1, 2, 3, 4, 5, 6});
  print("own", read<int32_t>(own));
  memory shared(desc, eng, own.get_data_handle());
  std::printf("same handle %d\n", shared.get_data_handle() == own.get_data_handle());
  print("shared", read<int32_t>(shared));
  memory later(desc, eng, DNNL_MEMORY_NONE);
  std::printf("none %d\n", later.get_data_handle() == nullptr);
  later.set_data_handle(own.get_data_handle());
  print("later", read<int32_t>(later));
  std::printf("descriptor %d, engine %d\n", own.get_desc() == desc, own.get_engine() == eng);

  memory empty(memory::desc({0, 3}, type::f32, tag::ab), eng);
  std::printf("empty %zu\n", empty.get_desc().get_size());
  memory zero(memory::desc(), eng);
  std::printf("zero %zu %d\n", zero.get_desc().get_size(), zero.get_desc().is_zero());
  attempt("any", [&] { memory(memory::desc({2, 3}, type::f32, tag::any), eng); });
  attempt("tag", [&] { memory::desc({2, 3}, type::f32, tag::abc); });
  attempt("strides", [&] { memory::desc({2, 3}, type::f32, memory::dims{1}); });
  memory::desc allowed({2, 3}, type::f32, tag::abc, /*allow_empty=*/true);
  std::printf("allowed %d\n", static_cast<bool>(allowed));
}

static void settings() {
  std::printf("version %d.%d\n", dnnl_version()->major, dnnl_version()->minor);
  std::printf("capacity %d", get_primitive_cache_capacity());
  set_primitive_cache_capacity(17);
  std::printf(" %d\n", get_primitive_cache_capacity());
  show("capacity", dnnl_set_primitive_cache_capacity(-1));
  show("verbose", dnnl_set_verbose(3));
  show("silent", dnnl_set_verbose(0));
  show("isa", dnnl_set_max_cpu_isa(static_cast<dnnl_cpu_isa_t>(0x7777)));
}

int main() {
  settings();
  engine eng(engine::kind::cpu, 0);
  objects(eng);
  buffers(eng);
  return 0;
}
