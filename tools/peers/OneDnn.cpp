//===- OneDnn.cpp - Genuine oneDNN, opened at run time --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The library stays open until the process exits, because its thread pools do not survive a dlclose. Descriptors with
// an offset cannot be created, so the pointer is moved instead.
//
//===----------------------------------------------------------------------===//
#include "OneDnnApi.h"

#include "Primitives/Arguments.h"
#include "quern/quern_query.h"

#include <dlfcn.h>
#include <filesystem>

namespace quern {
namespace {

constexpr int cpuEngine = 1, defaultStreamFlags = 1;

int64_t offsetBytes(const TensorDesc &tensor) { return tensor.offset0 * bitsOf(tensor.dataType) / 8; }

} // namespace

Result<std::unique_ptr<OneDnn>> OneDnn::open(const std::string &root) {
  std::string path = std::filesystem::is_directory(root) ? root + "/lib/libdnnl.so.3" : root;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return runtimeError("cannot open oneDNN: ", dlerror());
  std::unique_ptr<OneDnn> oneDnn(new OneDnn);
  oneDnn->handle = library;
  oneDnn->api = std::make_unique<Functions>();
  if (const char *missing = oneDnn->api->load(library))
    return runtimeError(path, " has no ", missing);
  QUERN_RETURN_IF_ERROR(explained(oneDnn->api->engineCreate(&oneDnn->engine, cpuEngine, 0), "engine creation"));
  int status = oneDnn->api->streamCreate(&oneDnn->stream, oneDnn->engine, defaultStreamFlags);
  QUERN_RETURN_IF_ERROR(explained(status, "stream creation"));
  return oneDnn;
}

OneDnn::~OneDnn() {
  if (stream)
    api->streamDestroy(stream);
  if (engine)
    api->engineDestroy(engine);
}

std::string OneDnn::version() const {
  const OneDnn::Version *version = api->version();
  return concat("oneDNN ", version->major, '.', version->minor, '.', version->patch);
}

void *OneDnn::symbol(const char *name) const { return dlsym(handle, name); }

Result<std::unique_ptr<OneDnnPrimitive>> OneDnn::create(const VerifiedProblem &problem) const {
  std::unique_ptr<OneDnnPrimitive> primitive(new OneDnnPrimitive(*this, problem));
  QUERN_RETURN_IF_ERROR(primitive->create());
  return primitive;
}

OneDnnPrimitive::~OneDnnPrimitive() {
  releaseMemories();
  for (void *each : {primitive, forward})
    if (each)
      library.api->primitiveDestroy(each);
  if (attributes)
    library.api->attrDestroy(attributes);
  for (void *desc : descs)
    library.api->mdDestroy(desc);
}

Result<void> OneDnnPrimitive::create() {
  QUERN_RETURN_IF_ERROR(describeAttributes());
  QUERN_ASSIGN_OR_RETURN(void *desc, std::visit([&](const auto &op) { return createDesc(op); }, problem.desc.op));
  const char *name = nullptr;
  if (library.api->pdQuery(desc, quern_query_impl_info_str, 0, static_cast<void *>(&name)) == 0 && name)
    kernel = name;
  int status = library.api->primitiveCreate(&primitive, desc);
  library.api->pdDestroy(desc);
  return explained(status, "primitive creation");
}

void OneDnnPrimitive::releaseMemories() {
  for (std::vector<Memory> *all : {&memories, &forwardMemories}) {
    for (const Memory &memory : *all)
      library.api->memoryDestroy(memory.handle);
    all->clear();
  }
}

Result<void *> OneDnnPrimitive::layoutOf(const ArgumentInfo &argument) {
  auto chosen = chosenLayouts.find(argument.index);
  return chosen != chosenLayouts.end() ? Result<void *>(chosen->second) : describe(argument.desc);
}

/// Creates the memory object of an argument. `data` has the layout of Quern's descriptor; if oneDNN chose another
/// layout, the object gets a copy.
Result<void> OneDnnPrimitive::addMemory(const ArgumentInfo &argument, void *data) {
  const bool isChosen = chosenLayouts.contains(argument.index), isMade = isMadeByForward(argument.index);
  QUERN_ASSIGN_OR_RETURN(void *desc, layoutOf(argument));
  void *memory = nullptr, *place = isChosen || isMade ? allocateMemory : data;
  QUERN_RETURN_IF_ERROR(explained(library.api->memoryCreate(&memory, desc, library.engine, place), "memory"));
  memories.push_back({argument.index, memory});
  QUERN_RETURN_IF_ERROR(isChosen ? fillChosen(argument, desc, memory, data) : Result<void>());
  return addForwardMemory(argument, data);
}

Result<void> OneDnnPrimitive::reorderInto(const TensorDesc &plain, void *values, const void *desc, void *memory) {
  const OneDnn::Functions &api = *library.api;
  QUERN_ASSIGN_OR_RETURN(void *plainDesc, describe(plain));
  void *reorderDesc = nullptr, *reorder = nullptr, *source = nullptr;
  if (api.reorder(&reorderDesc, plainDesc, library.engine, desc, library.engine, attributes) != 0)
    return unimplemented("oneDNN: no reorder to its own layout");
  Result<void> done = explained(api.primitiveCreate(&reorder, reorderDesc), "a reorder to its own layout");
  if (done)
    done = explained(api.memoryCreate(&source, plainDesc, library.engine, values), "memory");
  const OneDnn::ExecArg args[] = {{1, source}, {17, memory}};
  if (done)
    done = explained(api.execute(reorder, library.stream, 2, args), "a reorder to its own layout");
  if (done)
    done = explained(api.streamWait(library.stream), "waiting");
  if (source)
    api.memoryDestroy(source);
  if (reorder)
    api.primitiveDestroy(reorder);
  api.pdDestroy(reorderDesc);
  return done;
}

Result<void> OneDnnPrimitive::bind(const std::map<int32_t, void *> &buffers) {
  releaseMemories();
  for (const ArgumentInfo &argument : problem.arguments) {
    auto found = buffers.find(argument.index);
    if (found == buffers.end())
      return invalidArguments("no buffer for argument ", argument.index, " (", argument.name, ")");
    if (Result<void> added = addMemory(argument, static_cast<char *>(found->second) + offsetBytes(argument.desc));
        !added)
      return added;
  }
  return runForward();
}

Result<void> OneDnnPrimitive::allocate(const std::function<void(const ArgumentInfo &, char *)> &fill) {
  constexpr Placement lines{GuardedSide::End, 64};
  releaseMemories();
  buffers.clear();
  for (ArgumentInfo argument : problem.arguments) {
    QUERN_ASSIGN_OR_RETURN(void *desc, layoutOf(argument));
    GuardedBuffer &buffer = buffers.emplace_back(static_cast<int64_t>(library.api->mdGetSize(desc)), lines);
    void *memory = nullptr;
    if (Result<void> made =
            explained(library.api->memoryCreate(&memory, desc, library.engine, buffer.data()), "memory");
        !made)
      return made;
    memories.push_back({argument.index, memory});
    argument.desc.offset0 = 0;
    if (!chosenLayouts.contains(argument.index)) {
      fill(argument, buffer.data());
      continue;
    }
    std::vector<char> ours(static_cast<size_t>(argument.desc.bytes()));
    fill(argument, ours.data());
    QUERN_RETURN_IF_ERROR(fillChosen(argument, desc, memory, ours.data()));
    QUERN_RETURN_IF_ERROR(addForwardMemory(argument, ours.data()));
  }
  return runForward();
}

Result<void> OneDnnPrimitive::execute(int64_t calls) {
  std::vector<OneDnn::ExecArg> args;
  for (const Memory &memory : memories)
    args.push_back({memory.argument, memory.handle});
  for (int64_t call = 0; call < calls; ++call)
    if (Result<void> done = explained(
            library.api->execute(primitive, library.stream, static_cast<int>(args.size()), args.data()), "execution");
        !done)
      return done;
  return explained(library.api->streamWait(library.stream), "waiting");
}

} // namespace quern
