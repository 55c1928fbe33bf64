//===- Query.cpp - Queries of primitive descriptors -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// There are three groups of queries: properties of every primitive, properties of its kind, and memory descriptors by
// role.
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "API/Handles.h"

using namespace quern;
using namespace quern::api;

namespace {

template <typename T, typename Value> Result<void> answer(void *result, Value value) {
  *static_cast<T *>(result) = static_cast<T>(value);
  return {};
}

/// Writes an internal enumerator as a value of the public type `T`.
template <typename T, typename Value> Result<void> answerEnum(void *result, Value value) {
  *static_cast<T *>(result) = toC<T>(value);
  return {};
}

Error notConcerned(quern_query_t what) {
  return unimplemented("query ", static_cast<int>(what), " does not apply to this primitive");
}

bool isOfDropout(int index) { return index >= QUERN_ARG_ATTR_DROPOUT_OFFSET && index <= QUERN_ARG_ATTR_DROPOUT_SEED; }

/// Counts the input or output tensors. As in oneDNN, operands of post-ops count, but not scales, zero points and
/// arguments of dropout.
int64_t countArguments(const Problem &problem, bool isOutput) {
  constexpr int quantization = QUERN_ARG_ATTR_SCALES | QUERN_ARG_ATTR_ZERO_POINTS;
  int64_t count = 0;
  for (const ArgumentInfo &argument : problem.verified().arguments)
    count += argument.isOutput == isOutput && !(argument.index & quantization) && !isOfDropout(argument.index) ? 1 : 0;
  return count;
}

template <typename T, typename Value> Result<void> answerResult(void *result, Result<Value> value) {
  return value ? answer<T>(result, *value) : Result<void>(value.takeError());
}

Result<void> queryCommon(const Problem &problem, quern_query_t what, void *result) {
  switch (what) {
  case quern_query_engine:
  case quern_query_scratchpad_engine:
    wrap(problem.engine().get(), static_cast<quern_engine_t *>(result));
    return {};
  case quern_query_primitive_kind:
    return answerEnum<quern_primitive_kind_t>(result, problem.verified().desc.kind());
  case quern_query_num_of_inputs_s32:
    return answer<int>(result, countArguments(problem, /*isOutput=*/false));
  case quern_query_num_of_outputs_s32:
    return answer<int>(result, countArguments(problem, /*isOutput=*/true));
  case quern_query_impl_info_str:
    return answer<const char *>(result, problem.verified().implementation.c_str());
  case quern_query_cache_blob_id_size_s64:
    return answer<int64_t>(result, problem.key().bytes.size());
  case quern_query_cache_blob_id:
    *static_cast<const uint8_t **>(result) = reinterpret_cast<const uint8_t *>(problem.key().bytes.data());
    return {};
  case quern_query_time_estimate_f64:
    return answerResult<double>(result, problem.estimatedSeconds());
  case quern_query_memory_consumption_s64:
    return problem.usesCallerScratchpad() ? answer<int64_t>(result, 0)
                                          : answerResult<int64_t>(result, problem.scratchpadBytes());
  default:
    return notConcerned(what);
  }
}

struct KindQuery {
  const Problem &problem;
  quern_query_t what;
  void *result;

  /// Answers queries of fields that several descriptors have under one name.
  template <typename Op> Result<void> operator()(const Op &op) const {
    if constexpr (requires { op.prop; })
      if (what == quern_query_prop_kind)
        return answerEnum<quern_prop_kind_t>(result, op.prop);
    if constexpr (requires { op.alg; })
      if (what == quern_query_alg_kind)
        return answerEnum<quern_alg_kind_t>(result, op.alg);
    if constexpr (requires { op.axis; })
      if (what == quern_query_axis_s32)
        return answer<int>(result, op.axis);
    return queryCommon(problem, what, result);
  }
  template <typename Op> Result<void> operator()(const Boxed<Op> &op) const { return (*this)(*op); }
  Result<void> operator()(const EltwiseDesc &eltwise) const {
    switch (what) {
    case quern_query_alpha_f32:
      return answer<float>(result, eltwise.alpha);
    case quern_query_beta_f32:
      return answer<float>(result, eltwise.beta);
    default:
      return operator()<EltwiseDesc>(eltwise);
    }
  }
  Result<void> operator()(const ReorderDesc &) const {
    if (what != quern_query_reorder_src_engine && what != quern_query_reorder_dst_engine)
      return queryCommon(problem, what, result);
    const EngineRef &engine = what == quern_query_reorder_src_engine ? problem.srcEngine() : problem.dstEngine();
    wrap(engine.get(), static_cast<quern_engine_t *>(result));
    return {};
  }
  Result<void> operator()(const RnnDesc &rnn) const {
    switch (what) {
    case quern_query_cell_kind:
      return answerEnum<quern_alg_kind_t>(result, rnn.cell);
    case quern_query_direction:
      return answerEnum<quern_rnn_direction_t>(result, rnn.direction);
    case quern_query_activation_kind:
      return answerEnum<quern_alg_kind_t>(result, rnn.activation);
    case quern_query_flags:
      return answer<unsigned>(result, rnn.flags);
    case quern_query_alpha_f32:
      return answer<float>(result, rnn.alpha);
    default:
      return operator()<RnnDesc>(rnn);
    }
  }
};

const TensorDesc zeroDesc;

/// Returns the descriptor of an argument of an execution; null if the primitive does not have it.
const TensorDesc *findArgument(const Problem &problem, int argument) {
  for (const ArgumentInfo &info : problem.verified().arguments)
    if (info.index == argument)
      return &info.desc;
  return nullptr;
}

/// The consecutive QUERN_ARG_ values of a role: the first one and their number.
struct Role {
  int first = 0, count = 0;
};
Role roleOf(const Problem &problem, quern_query_t what) {
  switch (what) {
  case quern_query_src_md:
    if (findArgument(problem, QUERN_ARG_MULTIPLE_SRC))
      return {QUERN_ARG_MULTIPLE_SRC, static_cast<int>(maxSources)};
    return {QUERN_ARG_SRC_0, 3}; // the attention of an RNN and its gradient are queried by quern_query_exec_arg_md
  case quern_query_dst_md:
    return {QUERN_ARG_DST_0, 3};
  case quern_query_weights_md:
    return {QUERN_ARG_WEIGHTS_0, 9}; // the bias comes after the four weights
  case quern_query_diff_src_md:
    return {QUERN_ARG_DIFF_SRC_0, 3};
  case quern_query_diff_dst_md:
    return {QUERN_ARG_DIFF_DST_0, 3};
  case quern_query_diff_weights_md:
    return {QUERN_ARG_DIFF_WEIGHTS_0, 9};
  default:
    return {};
  }
}

/// Returns the descriptor of the tensor at `index` of a role; null if there is none. Weights (layer, iter, [peephole,
/// projection,] bias) count only those that exist.
const TensorDesc *findByRole(const Problem &problem, Role role, int index) {
  if (role.first != QUERN_ARG_WEIGHTS_0 && role.first != QUERN_ARG_DIFF_WEIGHTS_0)
    return index >= 0 && index < role.count ? findArgument(problem, role.first + index) : nullptr;
  for (int offset = 0; offset < role.count; ++offset)
    if (const TensorDesc *desc = findArgument(problem, role.first + offset); desc && index-- == 0)
      return desc;
  return nullptr;
}

/// Returns a queried descriptor; the zero descriptor for a tensor that the primitive does not have, at any index.
Result<const TensorDesc *> queryDesc(const Problem &problem, quern_query_t what, int index) {
  const bool isOnlyOne = what == quern_query_scratchpad_md || what == quern_query_workspace_md;
  if (isOnlyOne && index != 0)
    return invalidArguments("query ", static_cast<int>(what), " has one tensor, at index 0; index is ", index);
  if (what == quern_query_scratchpad_md || (what == quern_query_exec_arg_md && index == QUERN_ARG_SCRATCHPAD))
    return problem.scratchpadDesc();
  const Role role = roleOf(problem, what);
  if (what != quern_query_exec_arg_md && what != quern_query_workspace_md && role.count == 0)
    return notConcerned(what);
  const TensorDesc *desc = role.count > 0
                               ? findByRole(problem, role, index)
                               : findArgument(problem, what == quern_query_workspace_md ? QUERN_ARG_WORKSPACE : index);
  return desc ? desc : &zeroDesc;
}

bool isDescQuery(quern_query_t what) { return what >= quern_query_some_md && what <= quern_query_exec_arg_md; }

Result<void> query(const Problem &problem, quern_query_t what, int index, void *result) {
  if (!isDescQuery(what))
    return std::visit(KindQuery{problem, what, result}, problem.verified().desc.op);
  QUERN_ASSIGN_OR_RETURN(const TensorDesc *desc, queryDesc(problem, what, index));
  wrap(desc, static_cast<const_quern_memory_desc_t *>(result));
  return {};
}

} // namespace

extern "C" {

quern_status_t quern_primitive_desc_query(const_quern_primitive_desc_t handle, quern_query_t what, int index,
                                          void *result) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle, "result", result);
    return query(*unwrap(handle)->problem, what, index, result);
  });
}

const_quern_memory_desc_t quern_primitive_desc_query_md(const_quern_primitive_desc_t handle, quern_query_t what,
                                                        int index) noexcept {
  const_quern_memory_desc_t desc = nullptr;
  (void)guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    if (!isDescQuery(what))
      return invalidArguments("query ", static_cast<int>(what), " is not for a memory descriptor");
    return query(*unwrap(handle)->problem, what, index, &desc);
  });
  return desc;
}

int quern_primitive_desc_query_s32(const_quern_primitive_desc_t handle, quern_query_t what, int index) noexcept {
  int value = 0;
  (void)guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    if (what != quern_query_num_of_inputs_s32 && what != quern_query_num_of_outputs_s32 && what != quern_query_axis_s32)
      return invalidArguments("query ", static_cast<int>(what), " is not for an int");
    return query(*unwrap(handle)->problem, what, index, &value);
  });
  return value;
}

int quern_primitive_desc_chose_layout(const_quern_primitive_desc_t handle, int arg) noexcept {
  return handle && unwrap(handle)->problem->choseLayout(arg);
}

} // extern "C"
