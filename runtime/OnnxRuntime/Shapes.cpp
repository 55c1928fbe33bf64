//===- Shapes.cpp - Operators whose result has the shape of the input -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Softmax, LogSoftmax and Eltwise. Each shape has its own primitive, which is created with the session if the shape is
// known then, or at the first execution with that shape.
//
//===----------------------------------------------------------------------===//
#include "Elements.h"
#include "Operator.h"

#include "quern/quern_threadpool.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace quern::onnxruntime {
namespace {

/// Maximum number of shapes of a kernel. If it is exceeded, all primitives are dropped; later ones come from the caches
/// of the library.
constexpr size_t maxShapes = 256;

class ShapesKernel : public OnnxKernel {
public:
  /// `front` is the text form of the problem up to its tensors. `axis` is empty for an operator without axis.
  ShapesKernel(const Node &node, const char *name, std::string front, std::optional<int64_t> axis)
      : front(std::move(front)), axis(axis), engine(engine::kind::cpu, 0),
        stream(threadpool_interop::make_stream(engine, nullptr)) {
    const Tensor input = node.input(0);
    element = elementOf(input.type);
    if (!element.isFloat)
      throw Failure(ORT_NOT_IMPLEMENTED, std::string("quern: ") + name +
                                             " supports float, float16, bfloat16 and double; the input is " +
                                             onnxName(input.type));
    // A completely unknown shape also has no dims.
    if (!input.dims.empty() && std::ranges::all_of(input.dims, [](int64_t dim) { return dim >= 0; }))
      find(input.dims);
  }

  void execute(const Execution &execution) override {
    const Tensor input = execution.input(0);
    const Made made = find(input.dims);
    memory src(made.desc, engine, execution.inputData(0)), dst(made.desc, engine, execution.outputData(0, input.dims));
    made.primitive.execute(stream, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
  }

private:
  struct Made {
    memory::desc desc; // descriptor of source and result
    quern::primitive primitive;
  };

  Made find(const std::vector<int64_t> &dims) {
    {
      const std::shared_lock lock(mutex);
      if (const auto found = shapes.find(dims); found != shapes.end())
        return found->second;
    }
    // The lock is not held: threads with the same shape share one compilation in the library.
    Made made{denseDesc(element.type, dims), quern::primitive(primitive_desc(engine, line(dims)))};
    const std::unique_lock lock(mutex);
    if (shapes.size() >= maxShapes)
      shapes.clear();
    shapes.emplace(dims, made);
    return made;
  }

  std::string line(const std::vector<int64_t> &dims) const {
    const memory::dims actual = dimsOf(dims);
    std::string shape;
    for (const int64_t dim : actual)
      shape += (shape.empty() ? "" : "x") + std::to_string(dim);
    const std::string tensor = std::string(element.name) + ":" + shape + ":" + rowMajor(actual.size());
    return front + " src=" + tensor + " dst=" + tensor + (axis ? " axis=" + std::to_string(axisIn(dims.size())) : "");
  }

  size_t axisIn(size_t rank) const {
    const auto limit = static_cast<int64_t>(rank);
    if (*axis < -limit || *axis >= limit)
      throw Failure(ORT_INVALID_ARGUMENT,
                    "quern: axis is " + std::to_string(*axis) + "; a tensor of rank " + std::to_string(rank) +
                        " allows " +
                        (rank ? std::to_string(-limit) + " to " + std::to_string(limit - 1) : std::string("none")));
    return static_cast<size_t>(*axis < 0 ? *axis + limit : *axis);
  }

  const std::string front;
  const std::optional<int64_t> axis;
  Element element;
  quern::engine engine;
  quern::stream stream; // runs on the calling thread
  std::shared_mutex mutex;
  std::map<std::vector<int64_t>, Made> shapes;
};

/// Returns a text that is parsed back to the same bits.
std::string textOf(float value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

} // namespace

std::unique_ptr<OnnxKernel> makeSoftmax(const Node &node) {
  return std::make_unique<ShapesKernel>(node, "Softmax", "softmax fwd_i", node.integer("axis", -1));
}

std::unique_ptr<OnnxKernel> makeLogSoftmax(const Node &node) {
  return std::make_unique<ShapesKernel>(node, "LogSoftmax", "softmax fwd_i alg=log", node.integer("axis", -1));
}

std::unique_ptr<OnnxKernel> makeEltwise(const Node &node) {
  const std::optional<std::string> alg = node.text("alg");
  if (!alg)
    throw Failure(ORT_INVALID_ARGUMENT, "quern: Eltwise needs the attribute alg, such as alg=\"relu\"");
  // Other characters could form further fields of the line.
  const auto isInWord = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (alg->empty() || !std::ranges::all_of(*alg, isInWord))
    throw Failure(ORT_INVALID_ARGUMENT, "quern: alg is '" + *alg + "'; it must be the name of an algorithm");
  const std::string front =
      "eltwise fwd_i alg=" + *alg + " alpha=" + textOf(node.real("alpha", 0)) + " beta=" + textOf(node.real("beta", 0));
  // Throws now if the parameters are invalid for every shape.
  const primitive_desc trial(engine(engine::kind::cpu, 0), front + " src=f32:1:a dst=f32:1:a");
  return std::make_unique<ShapesKernel>(node, "Eltwise", front, std::nullopt);
}

} // namespace quern::onnxruntime
