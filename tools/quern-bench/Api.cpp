//===- Api.cpp - Quern's C interface with owners and exceptions -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Creates engines, streams, primitives and buffers.
//
//===----------------------------------------------------------------------===//
#include "Api.h"

#include "Contestants/Contestant.h"

#include <cstring>
#include <optional>

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

std::string compileFor(const std::string &line, const std::string &target, quern_code_form_t form) {
  quern_blob_t blob = nullptr;
  check(quern_compile(line.c_str(), target.c_str(), form, &blob));
  const Owner<quern_blob_t, quern_blob_destroy> owner(blob);
  const void *bytes = nullptr;
  size_t size = 0;
  check(quern_blob_get_data(blob, &bytes, &size));
  return std::string(static_cast<const char *>(bytes), size);
}

char *dataOf(const Memory &memory) {
  void *data = nullptr;
  check(quern_memory_get_data_handle(memory.get(), &data));
  return static_cast<char *>(data);
}

namespace {

/// A mapping of a memory object into the program's address space, for the lifetime of this object.
class Mapped {
public:
  explicit Mapped(const Memory &memory) : memory(memory.get()) { check(quern_memory_map_data(this->memory, &data)); }
  ~Mapped() { quern_memory_unmap_data(memory, data); }
  Mapped(const Mapped &) = delete;
  Mapped &operator=(const Mapped &) = delete;
  char *get() const { return static_cast<char *>(data); }

private:
  quern_memory_t memory;
  void *data = nullptr;
};

/// Returns the forward problem whose workspace a backward RNN reads, with plain weights; nothing for other problems.
std::optional<BenchProblem> forwardOf(const BenchProblem &problem) {
  quern::PrimitiveDesc desc = problem.verified.desc;
  auto *boxed = std::get_if<Boxed<RnnDesc>>(&desc.op);
  if (!boxed || (*boxed)->prop != PropKind::Backward)
    return std::nullopt;
  RnnDesc &op = **boxed;
  op.prop = PropKind::ForwardTraining;
  for (TensorDesc *weights : {&op.weightsLayer, &op.weightsIter, &op.weightsProjection})
    if (!weights->isZero())
      *weights = *TensorDesc::dense(weights->shape(), weights->dataType);
  for (TensorDesc *gradient :
       {&op.diffSrcLayer, &op.diffSrcIter, &op.diffSrcIterC, &op.diffAttention, &op.diffWeightsLayer,
        &op.diffWeightsIter, &op.diffWeightsPeephole, &op.diffWeightsProjection, &op.diffBias, &op.diffDstLayer,
        &op.diffDstIter, &op.diffDstIterC})
    *gradient = TensorDesc();
  return BenchProblem::parse(desc.text());
}

} // namespace

BoundKernel::BoundKernel(const Engine &engine, const BenchProblem &problem)
    : desc(createPrimitiveDesc(engine, problem.verified.desc.text())), primitive(createPrimitive(desc)) {
  for (const ArgumentInfo &argument : problem.verified.arguments) {
    memories.push_back(createMemory(engine, argument));
    args.push_back({argument.index, memories.back().get()});
  }
  if (const quern_status_t ready = quern_primitive_wait_specialized(primitive.get()); ready != quern_not_required)
    check(ready);
}

Memory BoundKernel::createMemory(const Engine &engine, const ArgumentInfo &argument) {
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

void BoundKernel::fill(const Engine &engine, const BenchProblem &problem) const {
  for (size_t i = 0; i < memories.size(); ++i)
    fillArgument(Mapped(memories[i]).get(), problem.verified.arguments[i]);
  if (std::optional<BenchProblem> forward = forwardOf(problem))
    takeWorkspace(engine, *forward, problem);
}

void BoundKernel::takeWorkspace(const Engine &engine, const BenchProblem &forward, const BenchProblem &backward) const {
  const BoundKernel kernel(engine, forward);
  kernel.fill(engine, forward);
  const Stream stream = createStream(engine);
  kernel.run(stream);
  check(quern_stream_wait(stream.get()));
  for (size_t from = 0; from < kernel.memories.size(); ++from)
    for (size_t to = 0; to < memories.size(); ++to) {
      const ArgumentInfo &made = forward.verified.arguments[from];
      if (made.isOutput && made.index == backward.verified.arguments[to].index)
        std::memcpy(Mapped(memories[to]).get(), Mapped(kernel.memories[from]).get(),
                    static_cast<size_t>(made.desc.bytes()));
    }
}

void BoundKernel::run(const Stream &stream) const {
  check(quern_primitive_execute(primitive.get(), stream.get(), static_cast<int>(args.size()), args.data()));
}

} // namespace quern::bench
