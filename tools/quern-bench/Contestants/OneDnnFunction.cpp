//===- OneDnnFunction.cpp - oneDNN's versions of functions in MLIR --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "OneDnnFunction.h"

#include "Contestant.h"
#include "quern/quern_query.h"
#include "quern/quern_types.h"

#include <cstdio>
#include <stdexcept>

namespace quern::bench {

namespace {

// Constants of dnnl_types.h for which Quern has no names.
constexpr int argSrc = 1, argDst = 17, argWeights = 33, argBias = 41, argScale = 51, argShift = 52;
constexpr unsigned useScale = 2, useShift = 4;

} // namespace

template <typename... Parameters> void OneDnnFunction::call(const char *name, Parameters... parameters) const {
  auto *function = library.find<int(Parameters...)>(name);
  const int status = function ? function(parameters...) : -1;
  if (status != 0)
    throw std::runtime_error(std::string(name) + (function ? " failed with " + std::to_string(status) : " is missing"));
}

OneDnnFunction::OneDnnFunction(const OneDnn &library) : library(library) {
  call("dnnl_engine_create", &engine, int(quern_cpu), size_t(0));
  call("dnnl_stream_create", &stream, engine, unsigned(quern_stream_default_flags));
}

OneDnnFunction::~OneDnnFunction() {
  auto destroy = [&](const char *name, void *object) {
    if (auto *function = library.find<int(void *)>(name); object && function)
      function(object);
  };
  for (const Argument &argument : arguments)
    destroy("dnnl_memory_destroy", argument.memory);
  for (void *each : descs)
    destroy("dnnl_memory_desc_destroy", each);
  destroy("dnnl_primitive_destroy", primitive);
  destroy("dnnl_primitive_desc_destroy", desc);
  destroy("dnnl_primitive_attr_destroy", attributes);
  destroy("dnnl_stream_destroy", stream);
  destroy("dnnl_engine_destroy", engine);
}

void *OneDnnFunction::describe(const std::vector<int64_t> &dims) {
  void *made = nullptr;
  call("dnnl_memory_desc_create_with_strides", &made, static_cast<int>(dims.size()), dims.data(), int(quern_f32),
       static_cast<const int64_t *>(nullptr));
  descs.push_back(made);
  return made;
}

/// Adds a buffer with the values that other contestants use.
void OneDnnFunction::addArgument(int index, const std::vector<int64_t> &dims) {
  const ArgumentInfo argument{index, "src", *TensorDesc::dense(dims, DataType::F32), false};
  buffers.push_back(makeBuffer(argument.desc.bytes()));
  fillArgument(buffers.back().data(), argument);
  Argument given{index, nullptr};
  call("dnnl_memory_create", &given.memory, static_cast<const void *>(describe(dims)), engine,
       static_cast<void *>(buffers.back().data()));
  arguments.push_back(given);
}

void OneDnnFunction::describeNormalization(int64_t rows, int64_t columns) {
  const void *matrix = describe({rows, columns});
  call("dnnl_layer_normalization_forward_primitive_desc_create", &desc, engine, int(quern_forward_inference), matrix,
       matrix, static_cast<const void *>(nullptr), 1e-5f, useScale | useShift, static_cast<const void *>(nullptr));
  addArgument(argSrc, {rows, columns});
  addArgument(argScale, {columns});
  addArgument(argShift, {columns});
  addArgument(argDst, {rows, columns});
}

void OneDnnFunction::describeMatmul(int64_t rows, int64_t columns, int64_t depth) {
  void *postOps = nullptr;
  call("dnnl_post_ops_create", &postOps);
  call("dnnl_post_ops_append_eltwise", postOps, int(quern_eltwise_gelu_erf), 0.0f, 0.0f);
  call("dnnl_primitive_attr_create", &attributes);
  call("dnnl_primitive_attr_set_post_ops", attributes, static_cast<const void *>(postOps));
  call("dnnl_post_ops_destroy", postOps);
  const void *src = describe({rows, depth}), *weights = describe({depth, columns});
  const void *bias = describe({1, columns}), *dst = describe({rows, columns});
  call("dnnl_matmul_primitive_desc_create", &desc, engine, src, weights, bias, dst,
       static_cast<const void *>(attributes));
  addArgument(argSrc, {rows, depth});
  addArgument(argWeights, {depth, columns});
  addArgument(argBias, {1, columns});
  addArgument(argDst, {rows, columns});
}

void OneDnnFunction::finish() {
  const char *name = nullptr;
  call("dnnl_primitive_desc_query", static_cast<const void *>(desc), int(quern_query_impl_info_str), 0,
       static_cast<void *>(&name));
  kernel = name ? name : "";
  call("dnnl_primitive_create", &primitive, static_cast<const void *>(desc));
}

std::unique_ptr<OneDnnFunction> OneDnnFunction::create(const OneDnn &library, const std::string &line) {
  long long m = 0, n = 0, k = 0;
  const bool isNormalization = std::sscanf(line.c_str(), "layer_normalization %lldx%lld", &m, &n) == 2;
  if (!isNormalization && std::sscanf(line.c_str(), "matmul %lldx%lldx%lld", &m, &n, &k) != 3)
    return nullptr;
  std::unique_ptr<OneDnnFunction> function(new OneDnnFunction(library));
  if (isNormalization)
    function->describeNormalization(m, n);
  else
    function->describeMatmul(m, n, k);
  function->finish();
  return function;
}

void OneDnnFunction::execute(int64_t calls) const {
  for (int64_t i = 0; i < calls; ++i)
    call("dnnl_primitive_execute", static_cast<const void *>(primitive), stream, static_cast<int>(arguments.size()),
         static_cast<const Argument *>(arguments.data()));
  call("dnnl_stream_wait", stream);
}

} // namespace quern::bench
