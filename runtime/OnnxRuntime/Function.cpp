//===- Function.cpp - The operator Function: a function in MLIR -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Elements.h"
#include "Operator.h"

#include "quern/quern_threadpool.hpp"

#include <algorithm>

namespace quern::onnxruntime {
namespace {

[[noreturn]] void refuse(const std::string &text) { throw Failure(ORT_NOT_IMPLEMENTED, "quern: Function: " + text); }

class FunctionKernel : public OnnxKernel {
public:
  FunctionKernel(const Node &node, const std::string &module, const std::string &function)
      : engine(engine::kind::cpu, 0), problem(primitive_desc::from_mlir(engine, module, function)), primitive(problem),
        stream(threadpool_interop::make_stream(engine, nullptr)) {
    refuseWritten();
    const size_t inputs = count(QUERN_ARG_MULTIPLE_SRC), outputs = count(QUERN_ARG_MULTIPLE_DST);
    if (node.inputCount() != inputs || node.outputCount() != outputs)
      throw Failure(ORT_INVALID_ARGUMENT, "quern: Function: the node has " + std::to_string(node.inputCount()) +
                                              " inputs and " + std::to_string(node.outputCount()) +
                                              " outputs; the function has " + std::to_string(inputs) +
                                              " arguments and " + std::to_string(outputs) + " results");
    for (size_t i = 0; i < outputs; ++i)
      results.push_back(result(i));
    checkTypes(node, inputs);
  }

  void execute(const Execution &execution) override {
    std::unordered_map<int, memory> memories;
    for (size_t i = 0; i < types.size(); ++i)
      // An execution rejects a shape that does not match the function, before it writes anything.
      memories.emplace(QUERN_ARG_MULTIPLE_SRC + static_cast<int>(i),
                       memory(denseDesc(types[i], execution.input(i).dims), engine, execution.inputData(i)));
    for (size_t i = 0; i < results.size(); ++i)
      memories.emplace(QUERN_ARG_MULTIPLE_DST + static_cast<int>(i),
                       memory(results[i], engine, execution.outputData(i, results[i].get_dims())));
    primitive.execute(stream, memories);
  }

private:
  /// Returns the number of tensors with consecutive QUERN_ARG_ values from `first`.
  size_t count(int first) const {
    size_t found = 0;
    while (problem.query_md(query::exec_arg_md, first + static_cast<int>(found)).get_ndims() > 0)
      ++found;
    return found;
  }

  void refuseWritten() const {
    int count = 0;
    error::wrap_c_api(quern_primitive_get_launch_counts(primitive.get(), &count, nullptr, nullptr),
                      "could not get the arguments of the function");
    for (int position = 0; position < count; ++position) {
      int arg = 0, isOutput = 0;
      error::wrap_c_api(quern_primitive_get_launch_argument(primitive.get(), position, &arg, &isOutput, nullptr),
                        "could not get an argument of the function");
      if (isOutput && arg < QUERN_ARG_MULTIPLE_DST)
        refuse("argument " + std::to_string(arg - QUERN_ARG_MULTIPLE_SRC) +
               " is written; a node of ONNX has only results that the function returns");
    }
  }

  memory::desc result(size_t index) const {
    const memory::desc desc = problem.query_md(query::exec_arg_md, QUERN_ARG_MULTIPLE_DST + static_cast<int>(index));
    const std::vector<int64_t> dims = desc.get_dims();
    const std::string number = std::to_string(index);
    if (std::ranges::find(dims, QUERN_RUNTIME_DIM_VAL) != dims.end())
      refuse("result " + number + " has sizes that are open; the module must state them");
    if (desc != denseDesc(desc.get_data_type(), dims))
      refuse("result " + number + " is not dense and row-major");
    return desc;
  }

  void checkTypes(const Node &node, size_t inputs) {
    const auto check = [](const char *what, size_t index, ONNXTensorElementDataType onnx, const memory::desc &desc) {
      if (elementOf(onnx).type != desc.get_data_type())
        throw Failure(ORT_INVALID_ARGUMENT, std::string("quern: Function: ") + what + " " + std::to_string(index) +
                                                " of the node is " + onnxName(onnx) +
                                                ", which is not the function's type");
    };
    for (size_t i = 0; i < inputs; ++i) {
      const memory::desc desc = problem.query_md(query::exec_arg_md, QUERN_ARG_MULTIPLE_SRC + static_cast<int>(i));
      check("input", i, node.input(i).type, desc);
      types.push_back(desc.get_data_type());
    }
    for (size_t i = 0; i < results.size(); ++i)
      check("output", i, node.output(i).type, results[i]);
  }

  quern::engine engine;
  primitive_desc problem;
  quern::primitive primitive;
  quern::stream stream; // runs on the calling thread
  std::vector<memory::data_type> types;
  std::vector<memory::desc> results;
};

} // namespace

std::unique_ptr<OnnxKernel> makeFunction(const Node &node) {
  const std::optional<std::string> module = node.text("module");
  if (!module)
    throw Failure(ORT_INVALID_ARGUMENT, "quern: Function needs the attribute module, MLIR as text");
  return std::make_unique<FunctionKernel>(node, *module, node.text("function").value_or(""));
}

} // namespace quern::onnxruntime
