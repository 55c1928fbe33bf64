//===- OneDnn.cpp - Genuine oneDNN, opened at run time --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See OneDnn.h. The library stays open until the process ends: its thread pools do not survive a dlclose.
//
//===----------------------------------------------------------------------===//
#include "OneDnn.h"

#include "Primitives/Elements.h"

#include <dlfcn.h>
#include <filesystem>

namespace quern {
namespace {

struct ExecArg {
  int arg;
  void *memory;
};
struct Version {
  int major, minor, patch;
};

constexpr int argSrc = 1, argDst = 17;
constexpr int unimplementedStatus = 3;

/// Frees a oneDNN object at the end of a scope.
struct Scoped {
  void *handle = nullptr;
  int (*destroy)(void *);
  explicit Scoped(int (*destroy)(void *)) : destroy(destroy) {}
  Scoped(const Scoped &) = delete;
  Scoped &operator=(const Scoped &) = delete;
  ~Scoped() {
    if (handle)
      destroy(handle);
  }
};

Result<void> explained(int status, const char *what) {
  if (status == 0)
    return {};
  if (status == unimplementedStatus)
    return unimplemented("oneDNN: ", what, " is not supported");
  return runtimeError("oneDNN: ", what, " failed with status ", status);
}

} // namespace

struct OneDnn::Functions {
  const Version *(*version)();
  int (*engineCreate)(void **, int, size_t);
  int (*engineDestroy)(void *);
  int (*streamCreate)(void **, void *, unsigned);
  int (*streamDestroy)(void *);
  int (*streamWait)(void *);
  int (*mdCreate)(void **, int, const int64_t *, int, const int64_t *);
  int (*mdDestroy)(void *);
  int (*softmaxCreate)(void **, void *, int, int, const void *, const void *, int, const void *);
  int (*pdDestroy)(void *);
  int (*primitiveCreate)(void **, const void *);
  int (*primitiveDestroy)(void *);
  int (*memoryCreate)(void **, const void *, void *, void *);
  int (*memoryDestroy)(void *);
  int (*execute)(const void *, void *, int, const ExecArg *);

  /// The first symbol that is missing, or null.
  const char *load(void *library) {
    const char *missing = nullptr;
    auto get = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (!function && !missing)
        missing = name;
    };
    get(version, "dnnl_version");
    get(engineCreate, "dnnl_engine_create");
    get(engineDestroy, "dnnl_engine_destroy");
    get(streamCreate, "dnnl_stream_create");
    get(streamDestroy, "dnnl_stream_destroy");
    get(streamWait, "dnnl_stream_wait");
    get(mdCreate, "dnnl_memory_desc_create_with_strides");
    get(mdDestroy, "dnnl_memory_desc_destroy");
    get(softmaxCreate, "dnnl_softmax_forward_primitive_desc_create");
    get(pdDestroy, "dnnl_primitive_desc_destroy");
    get(primitiveCreate, "dnnl_primitive_create");
    get(primitiveDestroy, "dnnl_primitive_destroy");
    get(memoryCreate, "dnnl_memory_create");
    get(memoryDestroy, "dnnl_memory_destroy");
    get(execute, "dnnl_primitive_execute");
    return missing;
  }
};

Result<std::unique_ptr<OneDnn>> OneDnn::open(const std::string &root) {
  std::string path = std::filesystem::is_directory(root) ? root + "/lib/libdnnl.so.3" : root;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return runtimeError("cannot open oneDNN: ", dlerror());
  std::unique_ptr<OneDnn> oneDnn(new OneDnn);
  oneDnn->api = std::make_unique<Functions>();
  if (const char *missing = oneDnn->api->load(library))
    return runtimeError(path, " has no ", missing);
  constexpr int cpu = 1;
  if (Result<void> made = explained(oneDnn->api->engineCreate(&oneDnn->engine, cpu, 0), "engine creation"); !made)
    return made.takeError();
  if (Result<void> made = explained(oneDnn->api->streamCreate(&oneDnn->stream, oneDnn->engine, 1), "stream creation"); !made)
    return made.takeError();
  return oneDnn;
}

OneDnn::~OneDnn() {
  if (stream)
    api->streamDestroy(stream);
  if (engine)
    api->engineDestroy(engine);
}

std::string OneDnn::version() const {
  const Version *version = api->version();
  return concat("oneDNN ", version->major, '.', version->minor, '.', version->patch);
}

Result<void> OneDnn::run(const PrimitiveDesc &desc, void *src, void *dst) const {
  const SoftmaxDesc &op = std::get<SoftmaxDesc>(desc.op);
  auto start = [](const TensorDesc &tensor, void *buffer) {
    return static_cast<char *>(buffer) + tensor.offset0 * bitsOf(tensor.dataType) / 8; // descriptors with an offset cannot be created
  };
  Scoped srcMd(api->mdDestroy), dstMd(api->mdDestroy), pd(api->pdDestroy), primitive(api->primitiveDestroy);
  Scoped srcMemory(api->memoryDestroy), dstMemory(api->memoryDestroy);
  auto describe = [&](Scoped &md, const TensorDesc &t) {
    return explained(api->mdCreate(&md.handle, t.ndims, t.dims, static_cast<int>(t.dataType), t.strides), "the layout");
  };
  if (Result<void> made = describe(srcMd, op.src); !made)
    return made;
  if (Result<void> made = describe(dstMd, op.dst); !made)
    return made;
  // On finite data both kinds of accurate are the same, and oneDNN's public headers have only one of them.
  Alg alg = op.alg == Alg::SoftmaxAccurateInfAsZero ? Alg::SoftmaxAccurate : op.alg;
  int status = api->softmaxCreate(&pd.handle, engine, static_cast<int>(op.prop), static_cast<int>(alg), srcMd.handle, dstMd.handle, op.axis,
                                  nullptr);
  // Releases differ in what they call a problem that they do not take.
  if (status != 0)
    return unimplemented("oneDNN: refused with status ", status);
  if (Result<void> made = explained(api->primitiveCreate(&primitive.handle, pd.handle), "primitive creation"); !made)
    return made;
  if (Result<void> made = explained(api->memoryCreate(&srcMemory.handle, srcMd.handle, engine, start(op.src, src)), "memory"); !made)
    return made;
  if (Result<void> made = explained(api->memoryCreate(&dstMemory.handle, dstMd.handle, engine, start(op.dst, dst)), "memory"); !made)
    return made;
  ExecArg args[] = {{argSrc, srcMemory.handle}, {argDst, dstMemory.handle}};
  if (Result<void> done = explained(api->execute(primitive.handle, stream, 2, args), "execution"); !done)
    return done;
  return explained(api->streamWait(stream), "waiting");
}

} // namespace quern
