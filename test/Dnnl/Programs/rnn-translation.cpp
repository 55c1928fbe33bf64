// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A translator: an encoder with two LSTM layers reads a sentence; a decoder with two layers starts from the encoder's
// states and runs step by step, with the word of the step before as input. Checks that the words agree with the
// equations in plain C++.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: sentence 0: [[WORDS:.*]]
// CHECK-NEXT: by the equations: [[WORDS]]
// CHECK: encoder: dst_layer ok dst_iter ok dst_iter_c ok
// CHECK: lines compared, 0 differ
#include "run_rnn.hpp"

using namespace dnnl;

namespace {

constexpr size_t words = 40;
constexpr memory::dim layers = 2, batch = 4, channels = 32, sourceSteps = 9, targetSteps = 12;

Rnn makeStack(const char *name, memory::dim steps) {
  Rnn rnn{name, algorithm::vanilla_lstm};
  rnn.layers = layers, rnn.batch = batch, rnn.slc = rnn.dhc = rnn.dic = channels, rnn.steps = steps;
  return rnn;
}

/// The vector of each word. The decoder's output is also compared with it.
const std::vector<float> embedding = someValues(words * channels, 91);

void embed(size_t word, float *to) { std::copy_n(&embedding[word * channels], channels, to); }

/// Returns the word whose vector, rotated by `turn`, fits the output best.
size_t wordOf(const float *output, size_t turn) {
  size_t best = 0;
  double bestSum = -INFINITY;
  for (size_t word = 0; word < words; ++word) {
    double sum = 0;
    for (size_t c = 0; c < channels; ++c)
      sum += static_cast<double>(output[c]) * static_cast<double>(embedding[word * channels + (c + turn) % channels]);
    if (sum > bestSum)
      bestSum = sum, best = word;
  }
  return best;
}

using Sentences = std::vector<std::vector<size_t>>; ///< by sequence of the batch

/// Runs the decoder's steps: `step` maps an input [1, N, C] to the output.
template <typename Step> Sentences decode(const Step &step) {
  Sentences sentences(batch);
  std::vector<float> input(batch * channels);
  for (size_t n = 0; n < batch; ++n)
    embed(0, &input[n * channels]); // start of a sentence
  for (size_t t = 0; t < targetSteps; ++t) {
    const std::vector<float> output = step(input);
    for (size_t n = 0; n < batch; ++n) {
      sentences[n].push_back(wordOf(&output[n * channels], t + 5 * n));
      embed(sentences[n].back(), &input[n * channels]);
    }
  }
  return sentences;
}

Sentences decodeByEquations(const Rnn &decoder, Tensors tensors, const Tensors &encoded) {
  tensors[DNNL_ARG_SRC_ITER] = encoded.at(DNNL_ARG_DST_ITER);
  tensors[DNNL_ARG_SRC_ITER_C] = encoded.at(DNNL_ARG_DST_ITER_C);
  return decode([&](const std::vector<float> &input) {
    tensors[DNNL_ARG_SRC_LAYER] = input;
    Tensors results = RnnReference(decoder, tensors, [](double x) { return x; }).compute();
    tensors[DNNL_ARG_SRC_ITER] = results[DNNL_ARG_DST_ITER];
    tensors[DNNL_ARG_SRC_ITER_C] = results[DNNL_ARG_DST_ITER_C];
    return results[DNNL_ARG_DST_LAYER];
  });
}

Sentences decodeByPrimitive(stream &order, const MadeRnn &made, std::unordered_map<int, memory> memories,
                            const std::unordered_map<int, memory> &encoded) {
  memory h = encoded.at(DNNL_ARG_DST_ITER), c = encoded.at(DNNL_ARG_DST_ITER_C);
  copy(order, h, memories.at(DNNL_ARG_SRC_ITER));
  copy(order, c, memories.at(DNNL_ARG_SRC_ITER_C));
  memory plain = plainMemory(order.get_engine(), {1, batch, channels}, memory::data_type::f32);
  return decode([&](const std::vector<float> &input) {
    fill(plain, input);
    copy(order, plain, memories.at(DNNL_ARG_SRC_LAYER));
    made.primitive.execute(order, memories);
    order.wait();
    std::swap(memories.at(DNNL_ARG_SRC_ITER), memories.at(DNNL_ARG_DST_ITER)); // the next step continues from here
    std::swap(memories.at(DNNL_ARG_SRC_ITER_C), memories.at(DNNL_ARG_DST_ITER_C));
    return readPlain(order, memories.at(DNNL_ARG_DST_LAYER));
  });
}

void print(const char *name, const std::vector<size_t> &sentence) {
  std::printf("%s:", name);
  for (size_t word : sentence)
    std::printf(" %zu", word);
  std::printf("\n");
}

} // namespace

int main() {
  const engine cpu(engine::kind::cpu, 0);
  stream order(cpu);
  Rnn encoder = makeStack("encoder", sourceSteps);
  const Rnn decoder = makeStack("decoder", 1);
  Tensors source = someTensors(encoder, 3), target = someTensors(decoder, 4);
  for (size_t position = 0; position < sourceSteps * batch; ++position)
    embed((position * 7 + position / batch) % words, &source[DNNL_ARG_SRC_LAYER][position * channels]);
  for (int argument : {DNNL_ARG_SRC_ITER, DNNL_ARG_SRC_ITER_C})
    std::fill(source[argument].begin(), source[argument].end(), 0.0f);

  const MadeRnn encoding = makeRnn(cpu, encoder), decoding = makeRnn(cpu, decoder);
  std::unordered_map<int, memory> encoded = placeTensors(order, encoder, encoding, source);
  std::unordered_map<int, memory> steps = placeTensors(order, decoder, decoding, target);
  encoding.primitive.execute(order, encoded);
  order.wait();
  const Tensors expected = RnnReference(encoder, source, [](double x) { return x; }).compute();
  const Sentences translated = decodeByPrimitive(order, decoding, steps, encoded);
  const Sentences byEquations = decodeByEquations(decoder, target, expected);
  for (size_t n = 0; n < batch; ++n) {
    print(("sentence " + std::to_string(n)).c_str(), translated[n]);
    print("by the equations", byEquations[n]);
  }
  std::printf("encoder:%s\n", judge(order, encoder, encoded, expected, 5e-6f).c_str());
  std::printf("same words: %d\n", translated == byEquations);
  return 0;
}
