// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the RNNs of rnn.hpp through oneDNN's classes with every layout `any`, and compares the results with the
// reference.
#ifndef RUN_RNN_HPP
#define RUN_RNN_HPP

#include "rnn.hpp"

#include <cstring>
#include <string>

inline constexpr int rnnInputs[] = {DNNL_ARG_SRC_LAYER,        DNNL_ARG_SRC_ITER,           DNNL_ARG_SRC_ITER_C,
                                    DNNL_ARG_AUGRU_ATTENTION,  DNNL_ARG_WEIGHTS_LAYER,      DNNL_ARG_WEIGHTS_ITER,
                                    DNNL_ARG_WEIGHTS_PEEPHOLE, DNNL_ARG_WEIGHTS_PROJECTION, DNNL_ARG_BIAS};
inline constexpr int rnnOutputs[] = {DNNL_ARG_DST_LAYER, DNNL_ARG_DST_ITER, DNNL_ARG_DST_ITER_C};
inline constexpr int rnnWeights[] = {DNNL_ARG_WEIGHTS_LAYER, DNNL_ARG_WEIGHTS_ITER, DNNL_ARG_WEIGHTS_PROJECTION};

inline bool isOneOf(int argument, const int (&list)[3]) { return std::find(list, list + 3, argument) != list + 3; }

/// Returns the type of a tensor. Only states and weights may be integers; the cell state, bias and peephole are always
/// f32.
inline dnnl::memory::data_type typeOf(const Rnn &rnn, int argument) {
  using type = dnnl::memory::data_type;
  const bool isWeight = isOneOf(argument, rnnWeights);
  const bool isState = argument == DNNL_ARG_SRC_LAYER || argument == DNNL_ARG_SRC_ITER ||
                       argument == DNNL_ARG_DST_LAYER || argument == DNNL_ARG_DST_ITER ||
                       argument == DNNL_ARG_AUGRU_ATTENTION;
  if (rnn.type == type::u8 && rnn.isResultF32 && argument == DNNL_ARG_DST_LAYER)
    return type::f32;
  if (rnn.type == type::u8)
    return isWeight ? type::s8 : isState ? type::u8 : type::f32;
  return isWeight || isState ? rnn.type : type::f32;
}

inline dnnl::memory::desc anyOf(const Rnn &rnn, int argument) {
  const dnnl::memory::dims dims = rnn.dims(argument);
  return dims.empty() ? dnnl::memory::desc()
                      : dnnl::memory::desc(dims, typeOf(rnn, argument), dnnl::memory::format_tag::any);
}

template <typename Cell, typename... Arguments>
dnnl::primitive_desc describeCell(const dnnl::engine &engine, const dnnl::primitive_attr &attr,
                                  const Arguments &...arguments) {
  return typename Cell::primitive_desc(engine, arguments..., attr);
}

/// Throws if the library refuses the RNN.
inline dnnl::primitive_desc describeRnn(const dnnl::engine &engine, const Rnn &rnn,
                                        const dnnl::primitive_attr &attr = {}) {
  using dnnl::algorithm;
  const auto any = [&](int argument) { return anyOf(rnn, argument); };
  const auto x = any(DNNL_ARG_SRC_LAYER), h = any(DNNL_ARG_SRC_ITER), c = any(DNNL_ARG_SRC_ITER_C),
             a = any(DNNL_ARG_AUGRU_ATTENTION), w = any(DNNL_ARG_WEIGHTS_LAYER), u = any(DNNL_ARG_WEIGHTS_ITER),
             b = any(DNNL_ARG_BIAS), y = any(DNNL_ARG_DST_LAYER), hn = any(DNNL_ARG_DST_ITER),
             cn = any(DNNL_ARG_DST_ITER_C), p = any(DNNL_ARG_WEIGHTS_PEEPHOLE), r = any(DNNL_ARG_WEIGHTS_PROJECTION);
  const auto prop = rnn.prop;
  const auto direction = rnn.direction;
  switch (rnn.cell) {
  case algorithm::vanilla_rnn:
    if (rnn.alpha != 0)
      return describeCell<dnnl::vanilla_rnn_forward>(engine, attr, prop, rnn.activation, direction, x, h, w, u, b, y,
                                                     hn, rnn.alpha);
    return describeCell<dnnl::vanilla_rnn_forward>(engine, attr, prop, rnn.activation, direction, x, h, w, u, b, y, hn);
  case algorithm::vanilla_lstm:
    if (rnn.projection)
      return describeCell<dnnl::lstm_forward>(engine, attr, prop, direction, x, h, c, w, u, p, r, b, y, hn, cn);
    if (rnn.peephole)
      return describeCell<dnnl::lstm_forward>(engine, attr, prop, direction, x, h, c, w, u, p, b, y, hn, cn);
    return describeCell<dnnl::lstm_forward>(engine, attr, prop, direction, x, h, c, w, u, b, y, hn, cn);
  case algorithm::vanilla_gru:
    return describeCell<dnnl::gru_forward>(engine, attr, prop, direction, x, h, w, u, b, y, hn);
  case algorithm::lbr_gru:
    return describeCell<dnnl::lbr_gru_forward>(engine, attr, prop, direction, x, h, w, u, b, y, hn);
  case algorithm::vanilla_augru:
    return describeCell<dnnl::augru_forward>(engine, attr, prop, direction, x, h, a, w, u, b, y, hn);
  default:
    return describeCell<dnnl::lbr_augru_forward>(engine, attr, prop, direction, x, h, a, w, u, b, y, hn);
  }
}

/// A descriptor and its primitive.
struct MadeRnn {
  dnnl::primitive_desc desc;
  dnnl::primitive primitive;
};
inline MadeRnn makeRnn(const dnnl::engine &engine, const Rnn &rnn, const dnnl::primitive_attr &attr = {}) {
  const dnnl::primitive_desc desc = describeRnn(engine, rnn, attr);
  return {desc, dnnl::primitive(desc)};
}

/// Returns seeded inputs: states and weights between -1 and 1, attention between 0 and 1.
inline Tensors someTensors(const Rnn &rnn, unsigned seed) {
  Tensors tensors;
  for (int argument : rnnInputs) {
    size_t count = rnn.dims(argument).empty() ? 0 : 1;
    for (dnnl::memory::dim dim : rnn.dims(argument))
      count *= static_cast<size_t>(dim);
    std::vector<float> values = someValues(count, seed + static_cast<unsigned>(argument));
    for (float &value : values)
      value = argument == DNNL_ARG_AUGRU_ATTENTION ? value / 8 + 0.5f
              : isOneOf(argument, rnnWeights)      ? value / 16
                                                   : value / 4;
    tensors[argument] = std::move(values);
  }
  return tensors;
}

inline dnnl::memory plainMemory(const dnnl::engine &engine, const dnnl::memory::dims &dims,
                                dnnl::memory::data_type type) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = strides[d] * dims[d];
  return dnnl::memory({dims, type, strides}, engine);
}

/// Creates memories with these values in the layouts of a primitive. `quantize` has the attributes that convert them to
/// integers. For narrower floating-point types, `tensors` receives the rounded values.
inline std::unordered_map<int, dnnl::memory> placeTensors(dnnl::stream &stream, const Rnn &rnn, const MadeRnn &made,
                                                          Tensors &tensors, const dnnl::primitive_attr &quantize = {}) {
  const dnnl::engine engine = stream.get_engine();
  std::unordered_map<int, dnnl::memory> memories;
  for (int argument : rnnInputs) {
    if (rnn.dims(argument).empty())
      continue;
    dnnl::memory plain = plainMemory(engine, rnn.dims(argument), dnnl::memory::data_type::f32);
    dnnl::memory placed(made.desc.query_md(dnnl::query::exec_arg_md, argument), engine);
    fill(plain, tensors[argument]);
    const bool isFloat =
        typeOf(rnn, argument) != dnnl::memory::data_type::u8 && typeOf(rnn, argument) != dnnl::memory::data_type::s8;
    dnnl::reorder(plain, placed, isFloat ? dnnl::primitive_attr() : quantize).execute(stream, plain, placed);
    stream.wait();
    if (isFloat && typeOf(rnn, argument) != dnnl::memory::data_type::f32)
      tensors[argument] = readPlain(stream, placed); // rounded values
    memories.emplace(argument, placed);
  }
  for (int argument : rnnOutputs)
    if (!rnn.dims(argument).empty())
      memories.emplace(argument, dnnl::memory(made.desc.query_md(dnnl::query::exec_arg_md, argument), engine));
  if (rnn.prop == dnnl::prop_kind::forward_training)
    memories.emplace(DNNL_ARG_WORKSPACE, dnnl::memory(made.desc.query_md(dnnl::query::workspace_md), engine));
  return memories;
}

/// Returns " name ok", or the error of the worst element.
inline std::string verdict(const char *name, const std::vector<float> &computed, const std::vector<float> &expected,
                           float tolerance) {
  float worst = computed.size() == expected.size() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(computed.size(), expected.size()); ++i)
    if (const float off = std::fabs(computed[i] - expected[i]); !(off <= worst)) // also true for a NaN
      worst = off;
  return std::string(" ") + name + (worst <= tolerance ? " ok" : " is off by " + std::to_string(worst));
}

/// Returns true if the library reports that the feature is unimplemented.
inline bool isUnimplemented(const dnnl::error &refusal) {
  return static_cast<int>(refusal.status) == static_cast<int>(dnnl::status::unimplemented);
}

inline std::string nameOf(const Rnn &rnn) {
  using type = dnnl::memory::data_type;
  const char *directions[] = {"", "left2right", "right2left", "bidirectional_concat", "bidirectional_sum"};
  const char *element = rnn.type == type::f32 ? "f32" : rnn.type == type::bf16 ? "bf16" : "u8";
  return std::string(rnn.name) + " " + element + " " + directions[static_cast<int>(rnn.direction)] + ":";
}

/// Returns a line with a verdict on each result.
inline std::string judge(dnnl::stream &stream, const Rnn &rnn, std::unordered_map<int, dnnl::memory> &memories,
                         const Tensors &expected, float tolerance) {
  std::string line;
  const char *names[] = {"dst_layer", "dst_iter", "dst_iter_c"};
  for (int i = 0; i < 3; ++i)
    if (!rnn.dims(rnnOutputs[i]).empty())
      line += verdict(names[i], readPlain(stream, memories.at(rnnOutputs[i])), expected.at(rnnOutputs[i]), tolerance);
  return line;
}

#endif // RUN_RNN_HPP
