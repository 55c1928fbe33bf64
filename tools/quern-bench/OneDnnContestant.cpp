//===- OneDnnContestant.cpp - The genuine oneDNN --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Loads a libdnnl.so.3 at run time and calls it by its C interface, which is the same in all of 3.x: neither its headers nor the library
// are needed to build this. Buffers are allocated by the library, as its SYCL build wants them.
//
//===----------------------------------------------------------------------===//
#include "Contestant.h"

#include <array>
#include <dlfcn.h>
#include <map>
#include <stdexcept>
#include <utility>

namespace quern::bench {

namespace {

using Handle = void *;
constexpr int cpuEngine = 1, defaultStreamFlags = 1, forwardInference = 96, argSrc = 1, argDst = 17;
// DNNL_MEMORY_ALLOCATE
void *const allocate = reinterpret_cast<void *>(~uintptr_t(0));

struct ExecArg {
  int index;
  Handle memory;
};

/// The functions used, by their names without `dnnl_`.
struct Library {
  explicit Library(const std::string &path) : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    if (!handle)
      throw std::runtime_error(dlerror());
    load(engineCreate, "dnnl_engine_create");
    load(streamCreate, "dnnl_stream_create");
    load(streamWait, "dnnl_stream_wait");
    load(descCreate, "dnnl_memory_desc_create_with_strides");
    load(descDestroy, "dnnl_memory_desc_destroy");
    load(softmaxCreate, "dnnl_softmax_forward_primitive_desc_create");
    load(primitiveDescDestroy, "dnnl_primitive_desc_destroy");
    load(primitiveCreate, "dnnl_primitive_create");
    load(primitiveDestroy, "dnnl_primitive_destroy");
    load(memoryCreate, "dnnl_memory_create");
    load(memoryDestroy, "dnnl_memory_destroy");
    load(memoryMap, "dnnl_memory_map_data");
    load(memoryUnmap, "dnnl_memory_unmap_data");
    load(execute, "dnnl_primitive_execute");
  }
  template <typename Function> void load(Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(dlsym(handle, name));
    if (!function)
      throw std::runtime_error(std::string("no ") + name);
  }

  Handle handle;
  int (*engineCreate)(Handle *, int kind, size_t index);
  int (*streamCreate)(Handle *, Handle engine, unsigned flags);
  int (*streamWait)(Handle);
  int (*descCreate)(Handle *, int ndims, const int64_t *dims, int type, const int64_t *strides);
  int (*descDestroy)(Handle);
  int (*softmaxCreate)(Handle *, Handle engine, int propKind, int algorithm, Handle src, Handle dst, int axis, Handle attributes);
  int (*primitiveDescDestroy)(Handle);
  int (*primitiveCreate)(Handle *, Handle desc);
  int (*primitiveDestroy)(Handle);
  int (*memoryCreate)(Handle *, Handle desc, Handle engine, void *data);
  int (*memoryDestroy)(Handle);
  int (*memoryMap)(Handle, void **data);
  int (*memoryUnmap)(Handle, void *data);
  int (*execute)(Handle primitive, Handle stream, int count, const ExecArg *args);
};

void check(int status, const char *what) {
  if (status != 0)
    throw std::runtime_error(std::string(what) + ": status " + std::to_string(status));
}

int lookUp(const std::map<std::string, int> &table, const std::string &name) {
  auto found = table.find(name);
  if (found == table.end())
    throw std::runtime_error("no " + name);
  return found->second;
}

class OneDnn : public Contestant {
public:
  explicit OneDnn(const std::string &path) : library(path) {
    check(library.engineCreate(&engine, cpuEngine, 0), "engine");
    check(library.streamCreate(&stream, engine, defaultStreamFlags), "stream");
  }
  ~OneDnn() override { release(); }

  void prepare(const Problem &problem) override {
    release();
    descs = {makeDesc(problem, problem.src), makeDesc(problem, problem.dst)};
    int algorithm = lookUp({{"softmax_accurate", 0x30000}, {"softmax_log", 0x30001}}, problem.algorithm);
    Handle desc = nullptr;
    check(library.softmaxCreate(&desc, engine, forwardInference, algorithm, descs[0], descs[1], problem.axis, nullptr), "primitive desc");
    int status = library.primitiveCreate(&primitive, desc);
    library.primitiveDescDestroy(desc);
    check(status, "primitive");
    memories = {makeMemory(descs[0], problem.bytesOf(problem.src), problem.src.type),
                makeMemory(descs[1], problem.bytesOf(problem.dst), problem.dst.type)};
  }

  void run(int64_t calls) override {
    std::array<ExecArg, 2> args = {{{argSrc, memories[0]}, {argDst, memories[1]}}};
    for (int64_t call = 0; call < calls; ++call)
      check(library.execute(primitive, stream, static_cast<int>(args.size()), args.data()), "execute");
    check(library.streamWait(stream), "wait");
  }

private:
  Handle makeDesc(const Problem &problem, const Tensor &tensor) {
    int type = lookUp({{"f16", 1}, {"bf16", 2}, {"f32", 3}, {"f64", 7}}, tensor.type);
    Handle desc = nullptr;
    check(library.descCreate(&desc, static_cast<int>(problem.dims.size()), problem.dims.data(), type, tensor.strides.data()),
          "memory desc");
    return desc;
  }
  Handle makeMemory(Handle desc, int64_t bytes, const std::string &type) {
    Handle memory = nullptr;
    check(library.memoryCreate(&memory, desc, engine, allocate), "memory");
    void *data = nullptr;
    check(library.memoryMap(memory, &data), "map");
    fillTensor(static_cast<char *>(data), bytes, type);
    check(library.memoryUnmap(memory, data), "unmap");
    return memory;
  }
  void release() {
    if (primitive)
      library.primitiveDestroy(std::exchange(primitive, nullptr));
    for (Handle &memory : memories)
      if (memory)
        library.memoryDestroy(std::exchange(memory, nullptr));
    for (Handle &desc : descs)
      if (desc)
        library.descDestroy(std::exchange(desc, nullptr));
  }

  Library library;
  Handle engine = nullptr, stream = nullptr, primitive = nullptr;
  std::array<Handle, 2> descs{}, memories{};
};

} // namespace

std::unique_ptr<Contestant> createOneDnn(const std::string &libraryPath) { return std::make_unique<OneDnn>(libraryPath); }

} // namespace quern::bench
