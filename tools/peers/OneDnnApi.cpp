//===- OneDnnApi.cpp - Functions of oneDNN's C API ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "OneDnnApi.h"

#include <dlfcn.h>

namespace quern {

const char *OneDnn::Functions::load(void *library) {
  const char *missing = nullptr;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  auto get = [&](auto &function, const char *name) {
    if (!find(function, name) && !missing)
      missing = name;
  };
  find(mdCreateWithBlob, "dnnl_memory_desc_create_with_blob");
  find(mdGetBlob, "dnnl_memory_desc_get_blob");
  find(binaryV2, "dnnl_binary_primitive_desc_create_v2");
  find(setGroupedScales, "dnnl_primitive_attr_set_scales");
  find(setGroupedZeroPoints, "dnnl_primitive_attr_set_zero_points");
  find(setDropout, "dnnl_primitive_attr_set_dropout_v2");
  get(version, "dnnl_version");
  get(engineCreate, "dnnl_engine_create");
  get(engineDestroy, "dnnl_engine_destroy");
  get(streamCreate, "dnnl_stream_create");
  get(streamDestroy, "dnnl_stream_destroy");
  get(streamWait, "dnnl_stream_wait");
  get(mdCreate, "dnnl_memory_desc_create_with_strides");
  get(mdCreateByTag, "dnnl_memory_desc_create_with_string_tag");
  get(mdGetSize, "dnnl_memory_desc_get_size");
  get(mdDestroy, "dnnl_memory_desc_destroy");
  get(attrCreate, "dnnl_primitive_attr_create");
  get(attrDestroy, "dnnl_primitive_attr_destroy");
  get(setScales, "dnnl_primitive_attr_set_scales_mask");
  get(setZeroPoints, "dnnl_primitive_attr_set_zero_points_mask");
  get(setRnnData, "dnnl_primitive_attr_set_rnn_data_qparams");
  get(setRnnWeights, "dnnl_primitive_attr_set_rnn_weights_qparams");
  get(setRnnProjection, "dnnl_primitive_attr_set_rnn_weights_projection_qparams");
  get(postOpsCreate, "dnnl_post_ops_create");
  get(postOpsDestroy, "dnnl_post_ops_destroy");
  get(setPostOps, "dnnl_primitive_attr_set_post_ops");
  get(appendEltwise, "dnnl_post_ops_append_eltwise");
  get(appendBinary, "dnnl_post_ops_append_binary");
  get(appendSum, "dnnl_post_ops_append_sum");
  get(binary, "dnnl_binary_primitive_desc_create");
  get(reorder, "dnnl_reorder_primitive_desc_create");
  get(sum, "dnnl_sum_primitive_desc_create");
  get(concat, "dnnl_concat_primitive_desc_create");
  get(eltwiseForward, "dnnl_eltwise_forward_primitive_desc_create");
  get(eltwiseBackward, "dnnl_eltwise_backward_primitive_desc_create");
  get(softmaxForward, "dnnl_softmax_forward_primitive_desc_create");
  get(softmaxBackward, "dnnl_softmax_backward_primitive_desc_create");
  get(pdQuery, "dnnl_primitive_desc_query");
  get(pdDestroy, "dnnl_primitive_desc_destroy");
  get(primitiveCreate, "dnnl_primitive_create");
  get(primitiveDestroy, "dnnl_primitive_destroy");
  get(memoryCreate, "dnnl_memory_create");
  get(memoryDestroy, "dnnl_memory_destroy");
  get(execute, "dnnl_primitive_execute");
  return missing;
}

} // namespace quern
