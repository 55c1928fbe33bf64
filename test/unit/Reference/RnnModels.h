//===- RnnModels.h - RNNs of other frameworks with their data -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs/torch_rnn.py, jax_rnn.py and onnx_rnn.py wrote the files. Weights are converted by quern_rnn_weights.hpp, as
// in a program that has a model of such a framework.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_PRIMITIVES_RNNMODELS_H
#define QUERN_TEST_PRIMITIVES_RNNMODELS_H

#include "quern/quern.h"

#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace quern::test {

struct Numbers {
  std::vector<int64_t> shape; ///< empty if the model does not have this tensor
  std::vector<float> values;
};

struct RnnModel {
  std::string name; ///< folder in Inputs
  quern_alg_kind_t cell;
  quern_rnn_direction_t direction = quern_unidirectional_left2right;
  quern_alg_kind_t activation = quern_alg_kind_undef;
  unsigned flags = 0;
  /// Inputs by QUERN_ARG_ index, including sequence lengths, in Quern's shapes and order of gates. They are row-major,
  /// except that the weights of layer and iter are ldgoi.
  std::map<int32_t, Numbers> inputs;
  std::map<int32_t, Numbers> outputs; ///< results of the framework
  /// For PyTorch and JAX: the gradients of `outputs`, which are inputs of backward, and the resulting gradients of
  /// `inputs`, by their QUERN_ARG_DIFF_ indices.
  std::map<int32_t, Numbers> diffOutputs, diffInputs;
};

/// Prints the name of the model in failures.
inline void PrintTo(const RnnModel &model, std::ostream *stream) { *stream << model.name; }

/// Returns all models that have files.
std::vector<RnnModel> rnnModels();

/// Returns the format tag of a tensor with these numbers.
inline const char *tagOfRnnTensor(const Numbers &numbers) {
  const char *tags[] = {"", "a", "ab", "abc", "abcd", "abdec"}; // ldgoi
  return tags[numbers.shape.size()];
}

} // namespace quern::test

#endif // QUERN_TEST_PRIMITIVES_RNNMODELS_H
