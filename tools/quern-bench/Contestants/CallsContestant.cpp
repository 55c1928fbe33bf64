//===- CallsContestant.cpp - Calls of an interface in its own process -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A call is timed as a program makes it: it destroys the objects that it creates. All cached objects exist since
// prepare().
//
//===----------------------------------------------------------------------===//
#include "Calls.h"

#include "Functions.h"

#include <cstring>
#include <functional>
#include <stdexcept>

namespace quern::bench {

namespace {

class Calls : public Contestant {
public:
  explicit Calls(const std::string &libraryPath);
  ~Calls() override;
  std::string prepare(const BenchProblem &) override { throw std::runtime_error("calls are named, not described"); }
  void prepareCall(const std::string &name) override;
  void run(int64_t calls) override {
    for (int64_t i = 0; i < calls; ++i)
      call();
    require(api.stream_wait(stream)); // some libraries only queue executions
  }

private:
  /// A primitive with two tensors.
  struct Subject {
    quern_memory_desc_t src, dst;
    quern_memory_t srcMemory, dstMemory;
    quern_primitive_desc_t desc;
    quern_primitive_t primitive;
  };
  using CreateDesc = std::function<quern_primitive_desc_t(const Subject &)>;
  quern_memory_desc_t describe(int64_t rows, int64_t columns, bool isTransposed);
  Subject make(int64_t rows, int64_t columns, bool isTransposed, const CreateDesc &create);
  void destroy(Subject &subject);
  void execute(const Subject &subject);
  quern_primitive_desc_t createSoftmax(const Subject &subject);
  quern_primitive_desc_t createReorder(const Subject &subject);
  void createAndDestroy(const Subject &subject, quern_primitive_desc_t (Calls::*create)(const Subject &));
  void list(const std::string &name, std::function<void()> action) { actions[name] = std::move(action); }

  Functions api;
  quern_engine_t engine = nullptr;
  quern_stream_t stream = nullptr;
  Subject tiny, softmax, reorder;
  std::map<std::string, std::function<void()>> actions;
  std::function<void()> call;
};

Calls::Calls(const std::string &libraryPath) : api(libraryPath) {
  require(api.engine_create(&engine, quern_cpu, 0));
  require(api.stream_create(&stream, engine, quern_stream_default_flags));
  tiny = make(1, 16, false, [this](const Subject &subject) { return createSoftmax(subject); });
  softmax = make(256, 1000, false, [this](const Subject &subject) { return createSoftmax(subject); });
  reorder = make(16, 16, true, [this](const Subject &subject) { return createReorder(subject); });
  list("softmax descriptor", [this] { require(api.primitive_desc_destroy(createSoftmax(softmax))); });
  list("softmax primitive", [this] {
    quern_primitive_t primitive;
    require(api.primitive_create(&primitive, softmax.desc));
    require(api.primitive_destroy(primitive));
  });
  list("softmax descriptor and primitive", [this] { createAndDestroy(softmax, &Calls::createSoftmax); });
  list("softmax execute 1x16", [this] { execute(tiny); });
  list("reorder descriptor and primitive", [this] { createAndDestroy(reorder, &Calls::createReorder); });
  list("reorder execute 16x16 ab→ba", [this] { execute(reorder); });
}

Calls::~Calls() {
  for (Subject *subject : {&tiny, &softmax, &reorder})
    destroy(*subject);
  api.stream_destroy(stream);
  api.engine_destroy(engine);
}

quern_memory_desc_t Calls::describe(int64_t rows, int64_t columns, bool isTransposed) {
  const quern_dims_t dims = {rows, columns}, strides = {isTransposed ? 1 : columns, isTransposed ? rows : 1};
  quern_memory_desc_t desc;
  require(api.memory_desc_create_with_strides(&desc, 2, dims, quern_f32, strides));
  return desc;
}

Calls::Subject Calls::make(int64_t rows, int64_t columns, bool isTransposed, const CreateDesc &create) {
  Subject subject{};
  subject.src = describe(rows, columns, false);
  subject.dst = describe(rows, columns, isTransposed);
  require(api.memory_create(&subject.srcMemory, subject.src, engine, QUERN_MEMORY_ALLOCATE));
  require(api.memory_create(&subject.dstMemory, subject.dst, engine, QUERN_MEMORY_ALLOCATE));
  void *values = nullptr;
  require(api.memory_get_data_handle(subject.srcMemory, &values));
  std::memset(values, 0, static_cast<size_t>(rows * columns) * sizeof(float));
  subject.desc = create(subject);
  require(api.primitive_create(&subject.primitive, subject.desc));
  return subject;
}

void Calls::destroy(Subject &subject) {
  api.primitive_destroy(subject.primitive);
  api.primitive_desc_destroy(subject.desc);
  api.memory_destroy(subject.srcMemory);
  api.memory_destroy(subject.dstMemory);
  api.memory_desc_destroy(subject.src);
  api.memory_desc_destroy(subject.dst);
}

void Calls::execute(const Subject &subject) {
  const quern_exec_arg_t args[] = {{QUERN_ARG_SRC, subject.srcMemory}, {QUERN_ARG_DST, subject.dstMemory}};
  require(api.primitive_execute(subject.primitive, stream, 2, args));
}

quern_primitive_desc_t Calls::createSoftmax(const Subject &subject) {
  quern_primitive_desc_t desc;
  require(api.softmax_forward_primitive_desc_create(&desc, engine, quern_forward_inference, quern_softmax_accurate,
                                                    subject.src, subject.dst, 1, nullptr));
  return desc;
}

quern_primitive_desc_t Calls::createReorder(const Subject &subject) {
  quern_primitive_desc_t desc;
  require(api.reorder_primitive_desc_create(&desc, subject.src, engine, subject.dst, engine, nullptr));
  return desc;
}

void Calls::createAndDestroy(const Subject &subject, quern_primitive_desc_t (Calls::*create)(const Subject &)) {
  quern_primitive_desc_t desc = (this->*create)(subject);
  quern_primitive_t primitive;
  require(api.primitive_create(&primitive, desc));
  require(api.primitive_destroy(primitive));
  require(api.primitive_desc_destroy(desc));
}

void Calls::prepareCall(const std::string &name) {
  const auto found = actions.find(name);
  if (found == actions.end())
    throw std::runtime_error("unknown call " + name);
  call = found->second;
}

} // namespace

std::unique_ptr<Contestant> createCalls(const std::string &libraryPath) { return std::make_unique<Calls>(libraryPath); }

} // namespace quern::bench
