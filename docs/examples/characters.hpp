//===- characters.hpp - A text to learn -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Parts of a character model that do not depend on the library: the text, batches of it, parameters and stochastic
// gradient descent. characters.cpp trains a model with Quern, test/Dnnl/Programs/characters.cpp with oneDNN's API.
//
//===----------------------------------------------------------------------===//
#ifndef CHARACTERS_HPP
#define CHARACTERS_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace lesson {

inline const std::string text = "a quern is a mill of two stones. the lower stone lies still, the upper stone turns. "
                                "the grain runs in at the eye, the meal runs out at the rim. ";

/// The characters of the text, each once. The index of a character here is its class.
inline const std::string alphabet = [] {
  std::string all = text;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}();

constexpr int64_t steps = 16, sequences = 8, channels = 32, rows = steps * sequences;
inline const int64_t symbols = static_cast<int64_t>(alphabet.size());

/// Several sequences of the text, and the character that follows each of their characters.
struct Batch {
  std::vector<float> inputs = std::vector<float>(rows * symbols); ///< [step][sequence][character]: one-hot
  std::vector<float> attention = std::vector<float>(rows); ///< for augru and lbr_augru: higher at the end of a word
  std::vector<int64_t> targets = std::vector<int64_t>(rows);

  explicit Batch(int64_t number) {
    const auto at = [](int64_t place) { return text[place % text.size()]; };
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t step = row / sequences, sequence = row % sequences, place = number * 7 + sequence * 19 + step;
      inputs[row * symbols + static_cast<int64_t>(alphabet.find(at(place)))] = 1;
      attention[row] = at(place) == ' ' ? 0.5f : 0.1f;
      targets[row] = static_cast<int64_t>(alphabet.find(at(place + 1)));
    }
  }
  /// Returns the loss per character in nats; the rows are logarithms of probabilities.
  float loss(const std::vector<float> &logarithms) const {
    double sum = 0;
    for (int64_t row = 0; row < rows; ++row)
      sum -= logarithms[row * symbols + targets[row]];
    return static_cast<float>(sum / rows);
  }
  /// Returns the derivative of the loss by these logarithms.
  std::vector<float> lossGradient() const {
    std::vector<float> gradient(rows * symbols);
    for (int64_t row = 0; row < rows; ++row)
      gradient[row * symbols + targets[row]] = -1.0f / rows;
    return gradient;
  }
};

/// Weights or a bias, and their gradient.
struct Parameter {
  std::vector<float> values, gradient;

  /// Initializes the values with uniform random numbers between -range and range.
  Parameter(int64_t count, float range, uint32_t seed) : values(count), gradient(count) {
    for (float &value : values) {
      seed = seed * 1664525 + 1013904223;
      value = range * (static_cast<float>(seed >> 8) / (1 << 23) - 1);
    }
  }
  /// Takes a step against the gradient, whose norm is limited to 0.1, because gradients of plain cells may explode.
  void descend(float rate) {
    double square = 0;
    for (float one : gradient)
      square += static_cast<double>(one) * one;
    const float step = rate * static_cast<float>(0.1 / std::max(0.1, std::sqrt(square)));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] -= step * gradient[i];
  }
};

} // namespace lesson

#endif // CHARACTERS_HPP
