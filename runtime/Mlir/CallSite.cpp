//===- CallSite.cpp - Call sites of functions in generated code -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Mlir/CallSite.h"

#include "Cpu/Execute.h"

namespace quern {
namespace {

/// The first fields of a memref descriptor, which are the same for every rank. Sizes and strides follow.
struct Descriptor {
  void *allocated, *aligned;
  int64_t offset;
  const int64_t *sizes() const { return &offset + 1; }
  const int64_t *strides(int64_t rank) const { return sizes() + rank; }
};

/// Returns true if a memref has the layout of an existing memory object.
bool isLike(const TensorDesc &desc, const Descriptor &given, int64_t rank) {
  if (desc.offset0 != given.offset)
    return false;
  if (rank == 0)
    return true;
  if (desc.ndims != rank)
    return false;
  int64_t difference = 0;
  for (int64_t d = 0; d < rank; ++d)
    difference |= (desc.dims[d] ^ given.sizes()[d]) | (desc.strides[d] ^ given.strides(rank)[d]);
  return difference == 0;
}

/// Returns the descriptor of a memref. A memref of rank 0 becomes one element, as in the problem.
Result<TensorDesc> tensorOf(const ArgumentInfo &argument, const Descriptor &given, int64_t rank) {
  const int64_t one = 1;
  const int expected = argument.desc.ndims;
  if (rank != expected && !(rank == 0 && expected == 1))
    return invalidArguments(argument.name, " has ", rank, " dims; the function takes ", expected);
  const auto count = static_cast<size_t>(expected);
  const std::span<const int64_t> sizes(rank ? given.sizes() : &one, count);
  const std::span<const int64_t> strides(rank ? given.strides(rank) : &one, count);
  Result<TensorDesc> desc = TensorDesc::fromStrides(sizes, argument.desc.dataType, strides);
  if (!desc)
    return Error{desc.error().status, concat(argument.name, ": ", desc.error().message)};
  desc->offset0 = given.offset;
  if (Result<void> valid = desc->validate(); !valid)
    return Error{valid.error().status, concat(argument.name, ": ", valid.error().message)};
  return desc;
}

/// Returns true for a failure that the same request would cause again.
bool isFinal(const Error &error) {
  return error.status == Status::Unimplemented || error.status == Status::InvalidArguments;
}

} // namespace

CallSite::CallSite() : engine(new Engine(EngineKind::Cpu)), stream(new CpuStream(engine.get(), false)) {}
CallSite::~CallSite() = default;

Result<std::unique_ptr<Primitive>> CallSite::make(const quern_mlir_function_t &function) const {
  const bool isAhead = function.line && function.kernel;
  PrimitiveDesc desc; // filled in place: descriptors are large
  if (isAhead) {
    QUERN_ASSIGN_OR_RETURN(desc, PrimitiveDesc::parse(function.line));
  } else {
    if (function.module_bytes == 0 || function.module_bytes > maxMlirBytes)
      return invalidArguments("the module has ", function.module_bytes, " bytes; 1 to ", maxMlirBytes, " are possible");
    auto &mlir = desc.op.emplace<MlirDesc>();
    mlir.module.assign(static_cast<const char *>(function.module), function.module_bytes);
    mlir.function = function.function ? function.function : "";
    desc.attr.naive = (function.flags & QUERN_MLIR_ALLOW_NAIVE) != 0;
  }
  QUERN_ASSIGN_OR_RETURN(std::shared_ptr<const Problem> problem, Problem::create(engine.get(), desc, nullptr));
  const bool isLinked = (function.flags & QUERN_MLIR_LINKED) != 0;
  const std::span<void *const> entries(function.entries, isLinked ? function.entry_count : 0);
  if (isAhead)
    if (Result<std::unique_ptr<Primitive>> loaded = Primitive::createFromBlob(
            problem, {static_cast<const char *>(function.kernel), static_cast<size_t>(function.kernel_bytes)}, entries);
        loaded)
      return loaded;
  return Primitive::create({std::move(problem)});
}

Result<const Primitive *> CallSite::prepare(const quern_mlir_function_t &function) {
  if (const Primitive *known = ready.load(std::memory_order_acquire))
    return known;
  {
    const std::lock_guard lock(creation);
    if (refusal)
      return *refusal;
  }
  // The lock is not held, because a fork would wait for it. Concurrent calls share the compilation in the memory cache.
  Result<std::unique_ptr<Primitive>> made = make(function);
  const std::lock_guard lock(creation);
  if (primitive)
    return primitive.get();
  if (!made) {
    if (isFinal(made.error()))
      refusal = std::make_unique<const Error>(made.error());
    return made.takeError();
  }
  primitive = std::move(*made);
  ready.store(primitive.get(), std::memory_order_release);
  return primitive.get();
}

std::unique_ptr<CallSite::Frame> CallSite::takeFrame(size_t arguments) {
  {
    const std::lock_guard lock(reuse);
    if (!frames.empty()) {
      std::unique_ptr<Frame> frame = std::move(frames.back());
      frames.pop_back();
      return frame;
    }
  }
  auto frame = std::make_unique<Frame>();
  frame->memories.resize(arguments);
  frame->arguments.resize(arguments);
  return frame;
}

Result<void> CallSite::fill(Frame &frame, std::span<const quern_mlir_memref_t> memrefs) const {
  const std::vector<ArgumentInfo> &arguments = primitive->problem().verified().arguments;
  for (size_t i = 0; i < memrefs.size(); ++i) {
    std::unique_ptr<Memory> &memory = frame.memories[i];
    const auto *given = static_cast<const Descriptor *>(memrefs[i].descriptor);
    if (!given)
      return invalidArguments("the descriptor of ", arguments[i].name, " is null");
    if (!memory || !isLike(memory->desc, *given, memrefs[i].rank)) {
      QUERN_ASSIGN_OR_RETURN(TensorDesc desc, tensorOf(arguments[i], *given, memrefs[i].rank));
      memory = std::make_unique<Memory>(engine.get(), desc);
      frame.arguments[i] = {arguments[i].index, reinterpret_cast<quern_memory_t>(memory.get())};
    }
    memory->data = given->aligned;
  }
  return {};
}

Result<void> CallSite::call(const quern_mlir_function_t &function, std::span<const quern_mlir_memref_t> memrefs) {
  QUERN_ASSIGN_OR_RETURN(const Primitive *prepared, prepare(function));
  const size_t count = prepared->problem().verified().arguments.size();
  if (memrefs.size() != count)
    return invalidArguments(memrefs.size(), " memrefs are given; the function has ", count, " arguments and results");
  std::unique_ptr<Frame> frame = takeFrame(count);
  QUERN_RETURN_IF_ERROR(fill(*frame, memrefs));
  Result<void> done = prepared->execute(*stream, frame->arguments);
  const std::lock_guard lock(reuse);
  frames.push_back(std::move(frame));
  return done;
}

} // namespace quern
