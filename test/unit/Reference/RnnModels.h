//===- RnnModels.h - RNNs of other frameworks with their numbers ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs/torch_rnn.py, jax_rnn.py and onnx_rnn.py wrote the files. Weights are brought into place by
// quern_rnn_weights.hpp, as a program that has a model of theirs does.
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
  std::vector<int64_t> shape; ///< empty: the model has no such tensor
  std::vector<float> values;
};

struct RnnModel {
  std::string name; ///< the folder in Inputs
  quern_alg_kind_t cell;
  quern_rnn_direction_t direction = quern_unidirectional_left2right;
  quern_alg_kind_t activation = quern_alg_kind_undef;
  unsigned flags = 0;
  /// By QUERN_ARG_ index, in our shapes and order of gates, row-major but for weights of layer and iter: these are
  /// ldgoi. The lengths of sequences are here, too.
  std::map<int32_t, Numbers> inputs;
  std::map<int32_t, Numbers> outputs; ///< what the framework computed
  /// Of PyTorch's and JAX's: the gradients of `outputs`, which backward is given, and those of `inputs` that come of
  /// them, by the indices of gradients.
  std::map<int32_t, Numbers> diffOutputs, diffInputs;
};

/// How a test that fails names the model.
inline void PrintTo(const RnnModel &model, std::ostream *stream) { *stream << model.name; }

/// All models that there are files of.
std::vector<RnnModel> rnnModels();

/// The format tag that a tensor of these numbers has.
inline const char *tagOfRnnTensor(const Numbers &numbers) {
  const char *tags[] = {"", "a", "ab", "abc", "abcd", "abdec"}; // ldgoi
  return tags[numbers.shape.size()];
}

} // namespace quern::test

#endif // QUERN_TEST_PRIMITIVES_RNNMODELS_H
