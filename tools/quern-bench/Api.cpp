//===- Api.cpp - Quern's C interface with owners and exceptions -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Creation of objects, and a problem's shape as the library's own queries give it.
//
//===----------------------------------------------------------------------===//
#include "Api.h"

namespace quern::bench {

namespace {

std::string nameOf(quern_data_type_t type) {
  switch (type) {
  case quern_f16:
    return "f16";
  case quern_bf16:
    return "bf16";
  case quern_f32:
    return "f32";
  case quern_f64:
    return "f64";
  default:
    throw std::runtime_error("data type " + std::to_string(type) + " is not measured");
  }
}

std::string nameOf(quern_alg_kind_t algorithm) {
  switch (algorithm) {
  case quern_softmax_accurate:
    return "softmax_accurate";
  case quern_softmax_log:
    return "softmax_log";
  case quern_softmax_accurate_inf_as_zero:
    return "softmax_accurate_inf_as_zero";
  default:
    throw std::runtime_error("algorithm " + std::to_string(algorithm) + " is not measured");
  }
}

std::vector<int64_t> queryDims(const_quern_memory_desc_t desc, quern_query_t what) {
  int ndims = 0;
  const quern_dims_t *dims = nullptr;
  check(quern_memory_desc_query(desc, quern_query_ndims_s32, &ndims));
  check(quern_memory_desc_query(desc, what, &dims));
  return {*dims, *dims + ndims};
}

Tensor tensorOf(const_quern_memory_desc_t desc) {
  quern_data_type_t type;
  check(quern_memory_desc_query(desc, quern_query_data_type, &type));
  return {nameOf(type), queryDims(desc, quern_query_strides)};
}

} // namespace

Engine createEngine() {
  quern_engine_t engine;
  check(quern_engine_create(&engine, quern_cpu, 0));
  return Engine(engine);
}

Stream createStream(const Engine &engine) {
  quern_stream_t stream;
  check(quern_stream_create(&stream, engine.get(), quern_stream_default_flags));
  return Stream(stream);
}

PrimitiveDesc createPrimitiveDesc(const Engine &engine, const std::string &line) {
  quern_primitive_desc_t desc;
  check(quern_primitive_desc_create_from_text(&desc, engine.get(), line.c_str()));
  return PrimitiveDesc(desc);
}

Primitive createPrimitive(const PrimitiveDesc &desc) {
  quern_primitive_t primitive;
  check(quern_primitive_create(&primitive, desc.get()));
  return Primitive(primitive);
}

Memory createMemory(const Engine &engine, const_quern_memory_desc_t desc) {
  quern_memory_t memory;
  check(quern_memory_create(&memory, desc, engine.get(), QUERN_MEMORY_ALLOCATE));
  return Memory(memory);
}

char *dataOf(const Memory &memory) {
  void *data = nullptr;
  check(quern_memory_get_data_handle(memory.get(), &data));
  return static_cast<char *>(data);
}

Problem parseProblem(const Engine &engine, const std::string &line) {
  PrimitiveDesc desc = createPrimitiveDesc(engine, line);
  const_quern_memory_desc_t src = quern_primitive_desc_query_md(desc.get(), quern_query_src_md, 0);
  const_quern_memory_desc_t dst = quern_primitive_desc_query_md(desc.get(), quern_query_dst_md, 0);
  quern_alg_kind_t algorithm;
  check(quern_primitive_desc_query(desc.get(), quern_query_alg_kind, 0, &algorithm));
  Problem problem;
  problem.line = line;
  problem.algorithm = nameOf(algorithm);
  problem.axis = quern_primitive_desc_query_s32(desc.get(), quern_query_axis_s32, 0);
  problem.dims = queryDims(src, quern_query_dims);
  problem.src = tensorOf(src);
  problem.dst = tensorOf(dst);
  return problem;
}

Kernel::Kernel(const Engine &engine, const std::string &line)
    : desc(createPrimitiveDesc(engine, line)), primitive(createPrimitive(desc)),
      src(createMemory(engine, quern_primitive_desc_query_md(desc.get(), quern_query_src_md, 0))),
      dst(createMemory(engine, quern_primitive_desc_query_md(desc.get(), quern_query_dst_md, 0))) {}

void Kernel::run(const Stream &stream) const {
  const quern_exec_arg_t args[] = {{QUERN_ARG_SRC, src.get()}, {QUERN_ARG_DST, dst.get()}};
  check(quern_primitive_execute(primitive.get(), stream.get(), 2, args));
}

} // namespace quern::bench
