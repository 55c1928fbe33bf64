//===- ApiFuzzer.cpp - Random calls of the C API -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ApiDraw.h"
#include "ApiGemm.h"
#include "ApiRnn.h"
#include "Execution.h"
#include "Fuzzers.h"

#include <algorithm>
#include <cmath>

namespace quern::fuzz {
namespace {

constexpr int64_t maxTensorBytes = int64_t(4) << 20; ///< size limit of executed tensors

/// Tensors of one primitive.
class Call {
public:
  explicit Call(Input &input)
      : input(input), random(input.random), dims(drawApiDims(input.random)), first(drawApiType(input.random)) {}

  /// Describes a random primitive; returns null if it is refused.
  quern_primitive_desc_t describe() {
    attributes = drawApiAttributes(input, dims);
    quern_primitive_desc_t made = nullptr;
    return succeeds(input, describeAs(random.between(0, 9), &made)) ? made : nullptr;
  }

private:
  const_quern_memory_desc_t tensor(const ApiDims &shape, quern_data_type_t type) {
    // A refused or an absent descriptor is passed as null, which must be refused too.
    descs.push_back(random.oneIn(60) ? nullptr : drawMemoryDesc(input, shape, type));
    return descs.back().get();
  }
  const_quern_memory_desc_t tensor() { return tensor(dims, random.oneIn(2) ? first : drawApiType(random)); }
  const_quern_memory_desc_t repeatedTensor() {
    ApiDims repeated = dims;
    for (int64_t &value : repeated.values)
      value = random.oneIn(6) ? 1 : value;
    return tensor(repeated, random.oneIn(2) ? first : drawApiType(random));
  }
  int axis() { return static_cast<int>(random.oneIn(16) ? random.bits() : random.bits() % 4); }
  float number() { return random.oneIn(12) ? random.pick({NAN, INFINITY, -INFINITY}) : 0.5F; }
  quern_prop_kind_t forward() {
    return random.oneIn(16) ? static_cast<quern_prop_kind_t>(random.between(0, 200)) : quern_forward_inference;
  }
  quern_alg_kind_t eltwise() {
    const int64_t chosen = random.oneIn(3)    ? int64_t(quern_eltwise_linear)
                           : random.oneIn(12) ? quern_eltwise_relu_use_dst_for_bwd + random.between(0, 8)
                                              : quern_eltwise_relu + random.between(0, 22);
    return static_cast<quern_alg_kind_t>(chosen);
  }

  quern_status_t describeAs(int64_t kind, quern_primitive_desc_t *made) {
    quern_engine_t engine = input.device.engine();
    const const_quern_memory_desc_t src = tensor(dims, first), dst = tensor();
    switch (kind) {
    case 0: {
      const auto alg = static_cast<quern_alg_kind_t>(quern_softmax_accurate + random.between(0, 3));
      input.note("softmax");
      return quern_softmax_forward_primitive_desc_create(made, engine, forward(), alg, src, dst, axis(),
                                                         attributes.get());
    }
    case 1: {
      const const_quern_memory_desc_t data = tensor();
      input.note("softmax backward");
      return quern_softmax_backward_primitive_desc_create(made, engine, quern_softmax_accurate, src, dst, data, axis(),
                                                          nullptr, attributes.get());
    }
    case 2:
    case 3:
      input.note("eltwise");
      return quern_eltwise_forward_primitive_desc_create(made, engine, forward(), eltwise(), src, dst, number(),
                                                         number(), attributes.get());
    case 4: {
      const const_quern_memory_desc_t data = tensor();
      input.note("eltwise backward");
      return quern_eltwise_backward_primitive_desc_create(made, engine, eltwise(), src, dst, data, number(), number(),
                                                          nullptr, attributes.get());
    }
    case 5: {
      const auto alg = static_cast<quern_alg_kind_t>(quern_binary_add + random.between(0, 13));
      const const_quern_memory_desc_t second = repeatedTensor();
      const const_quern_memory_desc_t third = alg == quern_binary_select ? repeatedTensor() : nullptr;
      input.note(concat("binary ", static_cast<int>(alg)));
      return quern_binary_primitive_desc_create_v2(made, engine, alg, src, second, third, dst, attributes.get());
    }
    case 6:
      return describeSum(made, src, dst);
    case 7:
      return describeConcat(made);
    default:
      input.note("reorder");
      return quern_reorder_primitive_desc_create(made, src, engine, dst, engine, attributes.get());
    }
  }

  /// Returns the number of sources that the call states; `sources` receives the descriptors that it needs.
  int drawSources(std::vector<const_quern_memory_desc_t> &sources, const ApiDims *along, int alongAxis) {
    const auto count = static_cast<int>(random.oneIn(20) ? random.between(-4, 300) : random.between(1, 4));
    for (int i = 0; i < std::max(count, 1); ++i) {
      ApiDims shape = dims;
      if (along && alongAxis >= 0 && alongAxis < QUERN_MAX_NDIMS)
        shape.values[alongAxis] = drawApiDim(random);
      sources.push_back(i < 4 ? tensor(shape, random.oneIn(2) ? first : drawApiType(random)) : sources.front());
    }
    return count;
  }

  quern_status_t describeSum(quern_primitive_desc_t *made, const_quern_memory_desc_t src,
                             const_quern_memory_desc_t dst) {
    std::vector<const_quern_memory_desc_t> sources = {src};
    const int count = drawSources(sources, nullptr, 0);
    const std::vector<float> scales(sources.size(), 0.5F);
    input.note(concat("sum of ", count));
    return quern_sum_primitive_desc_create(made, input.device.engine(), random.oneIn(2) ? dst : nullptr, count,
                                           scales.data(), sources.data(), attributes.get());
  }

  quern_status_t describeConcat(quern_primitive_desc_t *made) {
    std::vector<const_quern_memory_desc_t> sources;
    const int along = axis(), count = drawSources(sources, &dims, along);
    input.note(concat("concat of ", count, " along ", along));
    return quern_concat_primitive_desc_create(made, input.device.engine(), nullptr, count, along, sources.data(),
                                              attributes.get());
  }

  Input &input;
  Random &random;
  ApiDims dims;
  quern_data_type_t first;
  OwnedAttributes attributes;
  std::vector<OwnedMemoryDesc> descs;
};

void query(Input &input, const_quern_primitive_desc_t desc) {
  input.note("queries the primitive's descriptor");
  int64_t room[128];
  for (int i = 0; i < 6; ++i) {
    const auto what = static_cast<quern_query_t>(input.random.between(0, 300));
    const auto index = static_cast<int>(input.random.between(-20, 5000));
    (void)quern_primitive_desc_query_md(desc, what, index);
    (void)quern_primitive_desc_query_s32(desc, what, index);
    (void)quern_primitive_desc_query(desc, what, index, room);
  }
}

/// An execution with wrong arguments must be refused and write nothing, unless there is nothing to compute.
void executeWrongly(Input &input, const faults::Execution &execution) {
  std::vector<quern_exec_arg_t> arguments = execution.given();
  if (arguments.empty())
    return;
  const std::string before = execution.outputs();
  const size_t chosen = static_cast<size_t>(input.random.between(0, static_cast<int64_t>(arguments.size()) - 1));
  auto count = static_cast<int>(arguments.size());
  const int64_t kind = input.random.between(0, 3);
  if (kind == 0)
    count -= 1;
  else if (kind == 1)
    count = -1;
  else if (kind == 2)
    arguments[chosen].memory = nullptr;
  else
    arguments[chosen].arg = input.random.pick({0, 1 << 20, -1});
  input.note(concat("executes with wrong arguments of kind ", kind));
  const quern_status_t status =
      quern_primitive_execute(execution.handle(), input.device.stream(), count, arguments.data());
  require(!succeeds(input, status) || before.empty(), "wrong arguments are accepted");
  require(execution.outputs() == before, "a refused execution has written");
}

/// A primitive can be created from the artifact of another; a damaged or truncated artifact is refused.
void restore(Input &input, const faults::Execution &execution) {
  size_t size = 0;
  input.note("restores it from its artifact");
  if (!succeeds(input, quern_primitive_get_cache_blob(execution.handle(), &size, nullptr)))
    return; // an empty tensor has none
  std::vector<uint8_t> artifact(size);
  require(succeeds(input, quern_primitive_get_cache_blob(execution.handle(), &size, artifact.data())),
          "the artifact is refused");
  const bool isDamaged = input.random.oneIn(2);
  if (isDamaged && input.random.oneIn(4))
    size = static_cast<size_t>(input.random.between(0, static_cast<int64_t>(size) - 1));
  else if (isDamaged)
    artifact[static_cast<size_t>(input.random.between(0, static_cast<int64_t>(size) - 1))] ^=
        static_cast<uint8_t>(input.random.between(1, 255));
  quern_primitive_t made = nullptr;
  const bool isMade =
      succeeds(input, quern_primitive_create_from_cache_blob(&made, execution.descriptor(), size, artifact.data()));
  const Owned<quern_primitive_t, quern_primitive_destroy> owned(isMade ? made : nullptr);
  require(isMade != isDamaged, isMade ? "a damaged artifact is accepted" : "the artifact is refused");
  input.pass();
}

void execute(Input &input, quern_primitive_desc_t desc) {
  std::string outputs[2];
  for (GuardedSide side : {GuardedSide::End, GuardedSide::Beginning}) {
    faults::Execution execution;
    if (!succeeds(input, execution.copy(input.device.engine(), desc)))
      return;
    input.note(concat("creates, to execute guarded at the ", nameOf(side)));
    if (!succeeds(input, execution.create()))
      return;
    if (side == GuardedSide::End)
      input.count(Created);
    if (input.random.oneIn(10))
      restore(input, execution);
    const quern_status_t bound = execution.bind({.side = side}, maxTensorBytes);
    if (bound == quern_out_of_memory || !succeeds(input, bound))
      return;
    execution.fill(7);
    if (input.random.oneIn(4))
      executeWrongly(input, execution);
    input.note("executes");
    if (!succeeds(input, execution.run(input.device.stream())))
      return;
    require(execution.guardsIntact(), "bytes next to a buffer were written");
    outputs[side == GuardedSide::Beginning] = execution.outputs();
  }
  require(outputs[0] == outputs[1], "results differ between buffers that end and buffers that begin at a page");
  input.count(Executed);
  input.pass();
}

} // namespace

void fuzzApi(Input &input) {
  if (input.random.oneIn(10))
    return fuzzGemm(input);
  const Owned<quern_primitive_desc_t, quern_primitive_desc_destroy> desc(
      input.random.oneIn(10) ? describeRnn(input) : Call(input).describe());
  if (!desc)
    return;
  input.count(Described);
  const char *text = nullptr;
  require(quern_primitive_desc_get_text(desc.get(), &text) == quern_success, "a descriptor has no text");
  input.note(text);
  if (input.random.oneIn(8))
    query(input, desc.get());
  execute(input, desc.get());
}

} // namespace quern::fuzz
