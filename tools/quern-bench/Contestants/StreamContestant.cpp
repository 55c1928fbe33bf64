//===- StreamContestant.cpp - Calls with new shapes -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A call is timed as in a program that learns its shapes just before: memory descriptors, primitive descriptor,
// primitive, memories, execution, and the destruction of all of them. Every contestant has the same shapes in the same
// order.
//
//===----------------------------------------------------------------------===//
#include "Streams.h"

#include "Functions.h"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>
#include <thread>

namespace quern::bench {

namespace {

constexpr int64_t heads = 8, headSize = 64, maxLength = 4096, maxBatch = 8;
constexpr int64_t channels = 128, maxSteps = 256, maxSequences = 4;
/// Elements of a new shape; few, because the execution itself is not to be measured.
constexpr int64_t maxElements = 16384;
constexpr uint32_t seed = 21;

using Dims = std::vector<int64_t>;

/// Throws std::runtime_error if a primitive was not created with the kernel of its family.
void requireFamily(quern_primitive_t primitive) {
  quern_primitive_info_t info{};
  require(quern_primitive_get_info(primitive, &info));
  if (info.origin != quern_origin_family)
    throw std::runtime_error("a new shape was not served by its family: origin " + std::to_string(info.origin));
}

class StreamOfCalls : public Contestant {
public:
  explicit StreamOfCalls(const std::string &libraryPath);
  ~StreamOfCalls() override;
  std::string prepare(const BenchProblem &) override { throw std::runtime_error("streams are named, not described"); }
  void prepareCall(const std::string &name) override;
  /// Does nothing, because a repeated call would not have a new shape.
  void run(int64_t) override {}
  double time(int64_t calls) override {
    double ns = 0;
    for (int64_t i = 0; i < calls; ++i) {
      const std::function<void()> call = next();
      const auto start = std::chrono::steady_clock::now();
      call();
      ns += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    }
    rest(ns);
    return ns;
  }

private:
  /// Sleeps between calls, a twelfth as long as they took, because the system stops a real-time thread that runs for 50
  /// ms without sleeping.
  void rest(double ns) {
    constexpr double longEnough = 5e6, share = 12;
    if ((sinceRest += ns) < longEnough)
      return;
    std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<int64_t>(sinceRest / share)));
    sinceRest = 0;
  }
  struct Argument {
    int index;
    Dims dims;
    Dims strides; ///< empty: dense
    quern_data_type_t type;
    float *data;
  };
  using Descs = std::vector<quern_memory_desc_t>;
  using CreateDesc = std::function<quern_primitive_desc_t(const Descs &)>;
  void compute(const std::vector<Argument> &arguments, const CreateDesc &create);
  void softmax(const Dims &dims, int axis, float *data);
  void add(const Dims &dims, const Dims &other, float *data);
  void newShape(int kind, const Dims &dims);
  void attend(int64_t batch, int64_t length);
  void recur(int64_t steps, int64_t sequences);
  std::function<void()> drawShape();
  int64_t draw(int64_t min, int64_t max) { return std::uniform_int_distribution<int64_t>(min, max)(random); }

  Functions api;
  const bool isOurs; ///< true if the library is Quern
  bool requiresFamilies = false;
  quern_engine_t engine = nullptr;
  quern_stream_t stream = nullptr;
  GuardedBuffer keys, values, scores, others, weights;
  std::mt19937 random{seed};
  std::set<std::pair<int, Dims>> drawn;
  double sinceRest = 0; ///< time since the last pause, in ns
  int nextKind = 0;
  std::function<std::function<void()>()> next;
};

float *floats(GuardedBuffer &buffer) { return reinterpret_cast<float *>(buffer.data()); }

GuardedBuffer makeFloats(int64_t count) {
  GuardedBuffer buffer = makeBuffer(count * int64_t{sizeof(float)});
  for (int64_t i = 0; i < count; ++i)
    floats(buffer)[i] = static_cast<float>(i % 61 - 30) / 64;
  return buffer;
}

StreamOfCalls::StreamOfCalls(const std::string &libraryPath)
    : api(libraryPath), isOurs(libraryPath.empty()), keys(makeFloats(maxBatch * maxLength * headSize)),
      values(makeFloats(maxBatch * maxLength * headSize)), scores(makeFloats(maxBatch * heads * maxLength)),
      others(makeFloats(maxSteps * maxSequences * channels)), weights(makeFloats(4 * channels * channels)) {
  require(api.engine_create(&engine, quern_cpu, 0));
  require(api.stream_create(&stream, engine, quern_stream_default_flags));
}

StreamOfCalls::~StreamOfCalls() {
  api.stream_destroy(stream);
  api.engine_destroy(engine);
}

void StreamOfCalls::compute(const std::vector<Argument> &arguments, const CreateDesc &create) {
  Descs descs;
  for (const Argument &argument : arguments) {
    Dims strides = argument.strides;
    for (int64_t stride = 1; strides.size() < argument.dims.size();) {
      strides.insert(strides.begin(), stride);
      stride *= argument.dims[argument.dims.size() - strides.size()];
    }
    quern_memory_desc_t desc = nullptr;
    require(api.memory_desc_create_with_strides(&desc, static_cast<int>(argument.dims.size()), argument.dims.data(),
                                                argument.type, strides.data()));
    descs.push_back(desc);
  }
  const quern_primitive_desc_t desc = create(descs);
  quern_primitive_t primitive = nullptr;
  require(api.primitive_create(&primitive, desc));
  if (requiresFamilies)
    requireFamily(primitive);
  std::vector<quern_exec_arg_t> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    quern_memory_t memory = nullptr;
    require(api.memory_create(&memory, descs[i], engine, arguments[i].data));
    given.push_back({arguments[i].index, memory});
  }
  require(api.primitive_execute(primitive, stream, static_cast<int>(given.size()), given.data()));
  require(api.stream_wait(stream));
  for (const quern_exec_arg_t &argument : given)
    require(api.memory_destroy(argument.memory));
  require(api.primitive_destroy(primitive));
  require(api.primitive_desc_destroy(desc));
  for (const quern_memory_desc_t memoryDesc : descs)
    require(api.memory_desc_destroy(memoryDesc));
}

void StreamOfCalls::softmax(const Dims &dims, int axis, float *data) {
  compute({{QUERN_ARG_SRC, dims, {}, quern_f32, data}, {QUERN_ARG_DST, dims, {}, quern_f32, data}},
          [&](const Descs &descs) {
            quern_primitive_desc_t desc = nullptr;
            require(api.softmax_forward_primitive_desc_create(
                &desc, engine, quern_forward_inference, quern_softmax_accurate, descs[0], descs[1], axis, nullptr));
            return desc;
          });
}

/// Adds in place.
void StreamOfCalls::add(const Dims &dims, const Dims &other, float *data) {
  compute({{QUERN_ARG_SRC_0, dims, {}, quern_f32, data},
           {QUERN_ARG_SRC_1, other, {}, quern_f32, floats(others)},
           {QUERN_ARG_DST, dims, {}, quern_f32, data}},
          [&](const Descs &descs) {
            quern_primitive_desc_t desc = nullptr;
            require(api.binary_primitive_desc_create(&desc, engine, quern_binary_add, descs[0], descs[1], descs[2],
                                                     nullptr));
            return desc;
          });
}

/// Makes a call of one of the kinds that drawShape() lists.
void StreamOfCalls::newShape(int kind, const Dims &dims) {
  const auto reorder = [&](const Dims &strides, quern_data_type_t type) {
    compute({{QUERN_ARG_SRC, dims, strides, quern_f32, floats(keys)}, {QUERN_ARG_DST, dims, {}, type, floats(values)}},
            [&](const Descs &descs) {
              quern_primitive_desc_t desc = nullptr;
              require(api.reorder_primitive_desc_create(&desc, descs[0], engine, descs[1], engine, nullptr));
              return desc;
            });
  };
  switch (kind) {
  case 0:
  case 1:
    return softmax(dims, 1, floats(scores));
  case 2: // abc from acb
    return reorder({dims[1] * dims[2], 1, dims[1]}, quern_f32);
  case 3:
    return reorder({}, quern_bf16);
  case 4:
    return compute(
        {{QUERN_ARG_SRC, dims, {}, quern_f32, floats(keys)}, {QUERN_ARG_DST, dims, {}, quern_f32, floats(values)}},
        [&](const Descs &descs) {
          quern_primitive_desc_t desc = nullptr;
          require(api.eltwise_forward_primitive_desc_create(
              &desc, engine, quern_forward_inference, quern_eltwise_gelu_tanh, descs[0], descs[1], 0, 0, nullptr));
          return desc;
        });
  default:
    return add(dims, {1, dims[1]}, floats(scores));
  }
}

/// Returns the next of six kinds of calls with a random shape: softmax along rows, softmax along an axis that is not
/// the last, a permutation, a conversion, gelu, and the addition of one row to all.
std::function<void()> StreamOfCalls::drawShape() {
  const int kind = nextKind++ % 6;
  Dims dims;
  do {
    if (kind == 1 || kind == 2)
      dims = {draw(1, 4), draw(16, 64), draw(16, 64)};
    else if (kind == 3 || kind == 4)
      dims = {draw(16, maxElements)};
    else
      dims = {draw(1, 64), draw(16, maxElements / 64 * 4)};
    int64_t elements = 1;
    for (const int64_t dim : dims)
      elements *= dim;
    if (elements > maxElements)
      dims.clear();
  } while (dims.empty() || !drawn.insert({kind, dims}).second);
  return [this, kind, dims] { newShape(kind, dims); };
}

/// Computes one new token of each sequence, whose eight heads share keys and values: scores, mask, softmax, weighted
/// sum of the values, and the residual.
void StreamOfCalls::attend(int64_t batch, int64_t length) {
  float *const query = floats(others), *const result = floats(weights);
  for (int64_t b = 0; b < batch; ++b)
    require(api.sgemm('N', 'T', heads, length, headSize, 0.125f, query + b * heads * headSize, headSize,
                      floats(keys) + b * maxLength * headSize, headSize, 0, floats(scores) + b * heads * length,
                      length));
  add({batch, heads, length}, {batch, 1, length}, floats(scores));
  softmax({batch, heads, length}, 2, floats(scores));
  for (int64_t b = 0; b < batch; ++b)
    require(api.sgemm('N', 'N', heads, headSize, length, 1, floats(scores) + b * heads * length, length,
                      floats(values) + b * maxLength * headSize, headSize, 0, result + b * heads * headSize, headSize));
  add({batch, heads, headSize}, {batch, heads, headSize}, result);
}

void StreamOfCalls::recur(int64_t steps, int64_t sequences) {
  const auto tensor = [](int index, const Dims &dims, GuardedBuffer &data) {
    return Argument{index, dims, {}, quern_f32, floats(data)};
  };
  compute({tensor(QUERN_ARG_SRC_LAYER, {steps, sequences, channels}, others),
           tensor(QUERN_ARG_WEIGHTS_LAYER, {1, 1, channels, 4, channels}, weights),
           tensor(QUERN_ARG_WEIGHTS_ITER, {1, 1, channels, 4, channels}, weights),
           tensor(QUERN_ARG_BIAS, {1, 1, 4, channels}, keys),
           tensor(QUERN_ARG_DST_LAYER, {steps, sequences, channels}, values)},
          [&](const Descs &d) {
            quern_primitive_desc_t desc = nullptr;
            require(api.lstm_forward_primitive_desc_create(
                &desc, engine, quern_forward_inference, quern_unidirectional_left2right, d[0], nullptr, nullptr, d[1],
                d[2], nullptr, nullptr, d[3], d[4], nullptr, nullptr, 0, nullptr));
            return desc;
          });
}

void StreamOfCalls::prepareCall(const std::string &name) {
  random.seed(seed);
  if (name == newShapesName) {
    constexpr int warmShapes = 60;
    const char *const tiers = std::getenv("QUERN_TIERS");
    requiresFamilies = isOurs && tiers && std::string_view(tiers) == "both";
    next = [this] { return drawShape(); };
    for (int i = 0; i < warmShapes; ++i)
      drawShape()();
  } else if (name == attentionName) {
    next = [this] {
      const int64_t batch = draw(1, maxBatch), length = draw(1, maxLength);
      return [this, batch, length] { attend(batch, length); };
    };
  } else if (name == recurrentName) {
    next = [this] {
      const int64_t steps = draw(1, maxSteps), sequences = draw(1, maxSequences);
      return [this, steps, sequences] { recur(steps, sequences); };
    };
  } else {
    throw std::runtime_error("unknown stream " + name);
  }
}

} // namespace

std::unique_ptr<Contestant> createStreamOfCalls(const std::string &libraryPath) {
  return std::make_unique<StreamOfCalls>(libraryPath);
}

} // namespace quern::bench
