//===- VerboseLines.cpp - Verbose lines of primitives ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The fields in order: engine, primitive, implementation, propagation kind, tensors, attributes, further parameters of
// the primitive, sizes. All values are queried through the C API of libquern.
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Dropin.h"
#include "Dnnl/Verbose.h"

#include "Desc/Tensor/TensorDesc.h"

using namespace quern::dropin;

namespace {

std::string textOfDim(int64_t value) { return value == QUERN_RUNTIME_DIM_VAL ? "*" : std::to_string(value); }

std::string joined(const int64_t *values, int count) {
  std::string text;
  for (int d = 0; d < count; ++d)
    text += (d ? "x" : "") + textOfDim(values[d]);
  return text;
}

template <typename T> T ask(const_quern_primitive_desc_t desc, quern_query_t what) {
  T answer{};
  quern_primitive_desc_query(desc, what, 0, &answer);
  return answer;
}

/// The line of one primitive, with the arguments of an execution or without.
class Line {
public:
  Line(const_quern_primitive_desc_t desc, int nargs, const quern_exec_arg_t *args)
      : desc(desc), nargs(nargs), args(args) {}

  std::string text() const {
    const auto kind = ask<quern_primitive_kind_t>(desc, quern_query_primitive_kind);
    const_quern_primitive_attr_t attr = nullptr;
    quern_primitive_desc_get_attr(desc, &attr);
    const Fields fields = fieldsOf(kind);
    // The drop-in may have set the mode of these primitives itself (Dnnl/Integers.cpp).
    const bool showsAccumulation = kind != quern_binary && kind != quern_sum && kind != quern_eltwise;
    return std::string("cpu,") + dnnl_prim_kind2str(kind) + "," + ask<const char *>(desc, quern_query_impl_info_str) +
           "," + dnnl_prop_kind2str(ask<quern_prop_kind_t>(desc, quern_query_prop_kind)) + "," + fields.tensors + "," +
           describeAttributes(attr, sources(), showsAccumulation) + "," + fields.auxiliary + "," + fields.sizes;
  }

private:
  struct Fields {
    std::string tensors, auxiliary, sizes;
  };
  struct NamedTensor {
    const char *name;
    int argument;
  };

  Fields fieldsOf(quern_primitive_kind_t kind) const {
    switch (static_cast<int>(kind)) {
    case 1: // reorder
      return reorder();
    case 3: // concat
      return {many(), "axis:" + std::to_string(ask<int>(desc, quern_query_axis_s32)), sizesOfMany()};
    case 4: // sum
      return {many(), "", sizes(QUERN_ARG_DST)};
    case 7: // eltwise
      return eltwise();
    case 11: // rnn
      return rnn();
    case 13: // binary
      return binary();
    case 19: // softmax
      return softmax();
    default:
      return {};
    }
  }

  const_quern_memory_desc_t ofPrimitive(int argument) const {
    return quern_primitive_desc_query_md(desc, quern_query_exec_arg_md, argument);
  }
  /// Returns the descriptor of the execution's argument; without an execution, that of the primitive.
  const_quern_memory_desc_t tensor(int argument) const {
    const_quern_memory_desc_t found = nullptr;
    for (int i = 0; i < nargs; ++i)
      if (args[i].arg == argument && quern_memory_get_memory_desc(args[i].memory, &found) == quern_success)
        return found;
    return ofPrimitive(argument);
  }
  bool has(int argument) const { return layoutOf(ofPrimitive(argument)).ndims > 0; }

  /// Returns the layout of a descriptor, which has the same 768 bytes as in oneDNN.
  static quern::TensorDesc layoutOf(const_quern_memory_desc_t desc) {
    quern::TensorDesc layout;
    size_t bytes = sizeof(layout);
    if (desc)
      quern_memory_desc_get_blob(reinterpret_cast<uint8_t *>(&layout), &bytes, desc);
    return layout;
  }

  std::string said(const char *name, int argument) const {
    return describeTensor(name, tensor(argument), quern_primitive_desc_chose_layout(desc, argument));
  }
  /// Returns the fields of those tensors that the primitive has, separated by blanks.
  std::string said(std::initializer_list<NamedTensor> tensors) const {
    std::string text;
    for (const NamedTensor &tensor : tensors)
      if (has(tensor.argument))
        text += (text.empty() ? "" : " ") + said(tensor.name, tensor.argument);
    return text;
  }
  std::string sizes(int argument) const {
    const quern::TensorDesc layout = layoutOf(tensor(argument));
    return joined(layout.dims, layout.ndims);
  }
  std::string algorithm() const {
    return std::string("alg:") +
           dnnl_alg_kind2str(static_cast<unsigned>(ask<quern_alg_kind_t>(desc, quern_query_alg_kind)));
  }
  bool isForward() const {
    const auto prop = ask<quern_prop_kind_t>(desc, quern_query_prop_kind);
    return prop == quern_forward_training || prop == quern_forward_inference;
  }

  Fields softmax() const {
    const int src = isForward() ? QUERN_ARG_SRC : QUERN_ARG_DIFF_SRC;
    return {said({{"src", src}, {"dst", QUERN_ARG_DST}, {"diff_dst", QUERN_ARG_DIFF_DST}}),
            algorithm() + " axis:" + std::to_string(ask<int>(desc, quern_query_axis_s32)), sizes(src)};
  }

  Fields reorder() const {
    std::string mask;
    for (int argument : {QUERN_ARG_SRC, QUERN_ARG_DST})
      if (const quern::TensorDesc layout = layoutOf(ofPrimitive(argument)); isOpen(layout))
        mask = "runtime-dim-mask:" + std::to_string(openDims(layoutOf(ofPrimitive(QUERN_ARG_SRC))));
    return {said({{"src", QUERN_ARG_SRC}, {"dst", QUERN_ARG_DST}}), mask, sizes(QUERN_ARG_SRC)};
  }
  static bool isOpen(const quern::TensorDesc &layout) {
    bool open = layout.offset0 == QUERN_RUNTIME_DIM_VAL;
    for (int d = 0; d < layout.ndims; ++d)
      open |= layout.dims[d] == QUERN_RUNTIME_DIM_VAL || layout.strides[d] == QUERN_RUNTIME_DIM_VAL;
    return open;
  }
  static int openDims(const quern::TensorDesc &layout) {
    int mask = 0;
    for (int d = 0; d < layout.ndims; ++d)
      mask |= (layout.dims[d] == QUERN_RUNTIME_DIM_VAL) << d;
    return mask;
  }

  Fields eltwise() const {
    const int data = has(QUERN_ARG_SRC) ? QUERN_ARG_SRC : QUERN_ARG_DST; // backward from the result has no src
    return {said({{"data", data}, {"diff", QUERN_ARG_DIFF_SRC}}),
            algorithm() + " alpha:" + textOf(ask<float>(desc, quern_query_alpha_f32)) +
                " beta:" + textOf(ask<float>(desc, quern_query_beta_f32)),
            sizes(data)};
  }

  Fields binary() const {
    const std::string third = has(QUERN_ARG_SRC_2) ? ":" + sizes(QUERN_ARG_SRC_2) : "";
    return {
        said({{"src", QUERN_ARG_SRC_0}, {"src", QUERN_ARG_SRC_1}, {"src", QUERN_ARG_SRC_2}, {"dst", QUERN_ARG_DST}}),
        algorithm(), sizes(QUERN_ARG_SRC_0) + ":" + sizes(QUERN_ARG_SRC_1) + third};
  }

  static constexpr int firstOfMany = 1024; ///< argument of the first source of sum and concat
  std::string many() const {
    std::string text;
    for (int source = 0; source < sources(); ++source)
      text += said("src", firstOfMany + source) + " ";
    return text + said("dst", QUERN_ARG_DST);
  }
  int sources() const {
    int count = 0;
    while (has(firstOfMany + count))
      ++count;
    return count;
  }
  std::string sizesOfMany() const {
    std::string text;
    for (int source = 0; source < sources(); ++source)
      text += (source ? ":" : "") + sizes(firstOfMany + source);
    return text;
  }

  Fields rnn() const {
    std::string tensors = said({{"src_layer", QUERN_ARG_SRC_LAYER},
                                {"src_iter", QUERN_ARG_SRC_ITER},
                                {"wei_layer", QUERN_ARG_WEIGHTS_LAYER},
                                {"wei_iter", QUERN_ARG_WEIGHTS_ITER},
                                {"wei_peephole", QUERN_ARG_WEIGHTS_PEEPHOLE},
                                {"wei_proj", QUERN_ARG_WEIGHTS_PROJECTION},
                                {"bias", QUERN_ARG_BIAS},
                                {"dst_layer", QUERN_ARG_DST_LAYER},
                                {"dst_iter", QUERN_ARG_DST_ITER},
                                {"diff_src_layer", QUERN_ARG_DIFF_SRC_LAYER},
                                {"diff_src_iter", QUERN_ARG_DIFF_SRC_ITER},
                                {"diff_wei_layer", QUERN_ARG_DIFF_WEIGHTS_LAYER},
                                {"diff_wei_iter", QUERN_ARG_DIFF_WEIGHTS_ITER},
                                {"diff_wei_peephole", QUERN_ARG_DIFF_WEIGHTS_PEEPHOLE},
                                {"diff_wei_proj", QUERN_ARG_DIFF_WEIGHTS_PROJECTION},
                                {"diff_bias", QUERN_ARG_DIFF_BIAS},
                                {"diff_dst_layer", QUERN_ARG_DIFF_DST_LAYER},
                                {"diff_dst_iter", QUERN_ARG_DIFF_DST_ITER}});
    const auto cell = ask<quern_alg_kind_t>(desc, quern_query_cell_kind);
    const auto activation = ask<quern_alg_kind_t>(desc, quern_query_activation_kind);
    const auto direction = ask<quern_rnn_direction_t>(desc, quern_query_direction);
    std::string auxiliary =
        std::string("alg:") + dnnl_alg_kind2str(cell) + " direction:" + dnnl_rnn_direction2str(direction) +
        " activation:" + dnnl_alg_kind2str(activation) +
        " flags:" + (ask<unsigned>(desc, quern_query_flags) & quern_rnn_flags_diff_weights_overwrite ? "O" : "");
    const quern::TensorDesc src = layoutOf(tensor(QUERN_ARG_SRC_LAYER)), dst = layoutOf(tensor(QUERN_ARG_DST_LAYER));
    const quern::TensorDesc layer = layoutOf(tensor(QUERN_ARG_WEIGHTS_LAYER)),
                            iter = layoutOf(tensor(QUERN_ARG_WEIGHTS_ITER));
    const int64_t dic = direction == quern_bidirectional_concat ? dst.dims[2] / 2 : dst.dims[2];
    return {std::move(tensors), std::move(auxiliary),
            "l" + textOfDim(layer.dims[0]) + "t" + textOfDim(src.dims[0]) + "mb" + textOfDim(src.dims[1]) + "sic" +
                textOfDim(iter.dims[2]) + "slc" + textOfDim(layer.dims[2]) + "dhc" + textOfDim(layer.dims[4]) + "dic" +
                textOfDim(dic)};
  }

  const_quern_primitive_desc_t desc;
  int nargs;
  const quern_exec_arg_t *args;
};

} // namespace

std::string quern::dropin::describe(const_quern_primitive_desc_t desc, int nargs, const quern_exec_arg_t *args) {
  return Line(desc, nargs, args).text();
}
