//===- Api.cpp - Quern's C interface with owners and exceptions -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Creation of objects.
//
//===----------------------------------------------------------------------===//
#include "Api.h"

#include "Contestants/Contestant.h"

namespace quern::bench {

Engine createEngine(quern_engine_kind_t kind) {
  quern_engine_t engine;
  check(quern_engine_create(&engine, kind, 0));
  return Engine(engine);
}

Stream createStream(const Engine &engine, unsigned flags) {
  quern_stream_t stream;
  check(quern_stream_create(&stream, engine.get(), flags));
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

char *dataOf(const Memory &memory) {
  void *data = nullptr;
  check(quern_memory_get_data_handle(memory.get(), &data));
  return static_cast<char *>(data);
}

Kernel::Kernel(const Engine &engine, const Problem &problem)
    : desc(createPrimitiveDesc(engine, problem.line)), primitive(createPrimitive(desc)) {
  for (const ArgumentInfo &argument : problem.verified.arguments) {
    memories.push_back(createMemory(engine, argument));
    args.push_back({argument.index, memories.back().get()});
  }
}

Memory Kernel::createMemory(const Engine &engine, const ArgumentInfo &argument) {
  const_quern_memory_desc_t md = quern_primitive_desc_query_md(desc.get(), quern_query_exec_arg_md, argument.index);
  quern_engine_kind_t kind{};
  check(quern_engine_get_kind(engine.get(), &kind));
  void *handle = QUERN_MEMORY_ALLOCATE;
  if (kind == quern_cpu)
    handle = buffers.emplace_back(makeBuffer(static_cast<int64_t>(quern_memory_desc_get_size(md)))).data();
  quern_memory_t memory;
  check(quern_memory_create(&memory, md, engine.get(), handle));
  return Memory(memory);
}

void Kernel::fill(const Problem &problem) const {
  for (size_t i = 0; i < memories.size(); ++i) {
    void *data = nullptr;
    check(quern_memory_map_data(memories[i].get(), &data));
    fillArgument(static_cast<char *>(data), problem.verified.arguments[i]);
    check(quern_memory_unmap_data(memories[i].get(), data));
  }
}

void Kernel::run(const Stream &stream) const {
  check(quern_primitive_execute(primitive.get(), stream.get(), static_cast<int>(args.size()), args.data()));
}

} // namespace quern::bench
