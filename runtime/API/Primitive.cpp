//===- Primitive.cpp - Primitives and the caches --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements the primitives of quern_primitive.h, quern_info.h, quern_compile.h, quern_cache.h, quern_pack.h and
// quern_tiers.h.
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "API/Handles.h"
#include "Compilation/Compiler.h"
#include "Core/ProblemCache.h"
#include "Kernels/Blob.h"
#include "Support/PerThread.h"

using namespace quern;
using namespace quern::api;

namespace {

PerThread<std::string> directoryOfCache; ///< result of the last quern_get_disk_cache()

Result<void> give(Result<std::unique_ptr<Primitive>> primitive, quern_primitive_t *handle) {
  if (!primitive)
    return primitive.takeError();
  wrap(primitive->release(), handle);
  return {};
}

Result<void> copyBlob(const Primitive &primitive, size_t *size, uint8_t *blob) {
  const Result<const Executable *> executable = primitive.executable();
  if (!executable)
    return executable.error();
  if (!*executable)
    return Error{Status::NotRequired, "a primitive that only copies, or on an empty tensor, has no code"};
  const Result<std::string> bytes = blobOf(**executable);
  return bytes ? copyBytes(*bytes, "cache blob", size, blob) : Result<void>(bytes.error());
}

/// Request of quern_compile() or quern_explain() to the compiler.
struct CompileQuestion {
  Compiler compiler;
  std::string descriptor, target;
};

Result<CompileQuestion> makeQuestion(const char *line, const char *targetText) {
  QUERN_ASSIGN_OR_RETURN(Target target, targetText ? Target::parse(targetText) : Result<Target>(Target::host()));
  QUERN_ASSIGN_OR_RETURN(PrimitiveDesc desc, PrimitiveDesc::parse(line));
  QUERN_ASSIGN_OR_RETURN(VerifiedProblem verified, verifiedProblemOf(desc, target));
  if (verified.isNoop)
    return Error{Status::NotRequired, concat("nothing is compiled for an empty tensor: ", verified.desc.text())};
  QUERN_ASSIGN_OR_RETURN(Compiler compiler, Compiler::get());
  return CompileQuestion{compiler, verified.desc.canonicalBytes(), target.text()};
}

Result<void> give(Result<std::string> bytes, quern_blob_t *blob) {
  if (!bytes)
    return bytes.takeError();
  wrap(new Blob{std::move(*bytes)}, blob);
  return {};
}

} // namespace

extern "C" {

// --- Primitives -----------------------------------------------------------

quern_status_t quern_primitive_create(quern_primitive_t *handle, const_quern_primitive_desc_t desc) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive", handle);
    *handle = nullptr;
    QUERN_REQUIRE("primitive_desc", desc);
    return give(Primitive::create(*unwrap(desc)), handle);
  });
}

quern_status_t quern_primitive_create_from_cache_blob(quern_primitive_t *handle, const_quern_primitive_desc_t desc,
                                                      size_t size, const uint8_t *blob) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive", handle);
    *handle = nullptr;
    QUERN_REQUIRE("primitive_desc", desc, "cache_blob", blob);
    return give(Primitive::createFromBlob(unwrap(desc)->problem, {reinterpret_cast<const char *>(blob), size}), handle);
  });
}

quern_status_t quern_primitive_get_cache_blob(const_quern_primitive_t handle, size_t *size, uint8_t *blob) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive", handle, "size", size);
    return copyBlob(*unwrap(handle), size, blob);
  });
}

quern_status_t quern_primitive_execute(const_quern_primitive_t handle, quern_stream_t stream, int nargs,
                                       const quern_exec_arg_t *args) noexcept {
  return guardedExecution([&]() -> Result<void> {
    QUERN_REQUIRE("primitive", handle, "stream", stream);
    if (nargs < 0)
      return invalidArguments("nargs is ", nargs, "; it must be at least 0");
    if (nargs > 0 && !args)
      return invalidArguments("args is null");
    return unwrap(handle)->execute(*unwrap(stream), {args, static_cast<size_t>(nargs)});
  });
}

quern_status_t quern_primitive_get_primitive_desc(const_quern_primitive_t handle,
                                                  const_quern_primitive_desc_t *desc) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive", handle, "primitive_desc", desc);
    wrap(&unwrap(handle)->descriptor(), desc);
    return {};
  });
}

quern_status_t quern_primitive_get_info(const_quern_primitive_t handle, quern_primitive_info_t *info) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive", handle, "info", info);
    *info = unwrap(handle)->info();
    return {};
  });
}

quern_status_t quern_primitive_destroy(quern_primitive_t handle) noexcept { return destroy(unwrap(handle)); }

quern_status_t quern_primitive_wait_specialized(const_quern_primitive_t handle) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive", handle);
    return unwrap(handle)->waitSpecialized();
  });
}

// --- The compiler ---------------------------------------------------------

quern_status_t quern_compile(const char *line, const char *target, quern_code_form_t form,
                             quern_blob_t *blob) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("blob", blob);
    *blob = nullptr;
    QUERN_REQUIRE("line", line);
    if (form < quern_form_emit || form > quern_form_debug_object)
      return invalidArguments("code form ", static_cast<int>(form), " is not one of quern_code_form_t (1 to 10)");
    QUERN_ASSIGN_OR_RETURN(CompileQuestion question, makeQuestion(line, target));
    return give(question.compiler.answer({CompilerRequest::Compile, question.descriptor, question.target, form}), blob);
  });
}

quern_status_t quern_explain(const char *line, const char *target, quern_blob_t *blob) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("blob", blob);
    *blob = nullptr;
    QUERN_REQUIRE("line", line);
    QUERN_ASSIGN_OR_RETURN(CompileQuestion question, makeQuestion(line, target));
    return give(question.compiler.answer({CompilerRequest::Explain, question.descriptor, question.target}), blob);
  });
}

quern_status_t quern_blob_get_data(const_quern_blob_t blob, const void **data, size_t *size) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("blob", blob);
    if (data)
      *data = unwrap(blob)->bytes.data();
    if (size)
      *size = unwrap(blob)->bytes.size();
    return {};
  });
}

quern_status_t quern_blob_destroy(quern_blob_t blob) noexcept { return destroy(unwrap(blob)); }

// --- The caches -----------------------------------------------------------

quern_status_t quern_get_primitive_cache_capacity(int *capacity) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("capacity", capacity);
    *capacity = static_cast<int>(Caches::process().memory.capacity());
    return {};
  });
}

quern_status_t quern_set_primitive_cache_capacity(int capacity) noexcept {
  return guarded([&]() -> Result<void> {
    if (capacity < 0)
      return invalidArguments("the cache capacity is ", capacity, "; it must be at least 0");
    Caches::process().memory.setCapacity(static_cast<size_t>(capacity));
    ProblemCache::process().setCapacity(static_cast<size_t>(capacity));
    return {};
  });
}

quern_status_t quern_get_primitive_cache_capacity_bytes(size_t *bytes) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("bytes", bytes);
    *bytes = Caches::process().memory.capacityBytes();
    return {};
  });
}

quern_status_t quern_set_primitive_cache_capacity_bytes(size_t bytes) noexcept {
  return guarded([&]() -> Result<void> {
    Caches::process().memory.setCapacityBytes(bytes);
    return {};
  });
}

quern_status_t quern_get_cache_statistics(quern_cache_statistics_t *statistics) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("statistics", statistics);
    *statistics = Caches::process().statistics();
    return {};
  });
}

quern_status_t quern_set_disk_cache(const char *directory) noexcept {
  return guarded([&] { return Caches::process().setDisk(directory ? directory : ""); });
}

quern_status_t quern_get_disk_cache(const char **directory) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("directory", directory);
    std::string *const kept = directoryOfCache.get();
    if (!kept)
      return Error{Status::OutOfMemory, "out of memory"};
    *kept = Caches::process().disk()->directory();
    *directory = kept->c_str();
    return {};
  });
}

quern_status_t quern_set_disk_cache_capacity(size_t bytes) noexcept {
  return guarded([&]() -> Result<void> {
    Caches::process().setDiskCapacity(bytes);
    return {};
  });
}

// --- Packs ----------------------------------------------------------------

quern_status_t quern_add_pack(const char *path) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("path", path);
    return Caches::process().packs.addFile(path);
  });
}

quern_status_t quern_add_pack_data(const void *data, size_t size) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("data", data);
    return Caches::process().packs.addData({static_cast<const char *>(data), size});
  });
}

quern_status_t quern_remove_pack_data(const void *data) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("data", data);
    return Caches::process().packs.removeData(data);
  });
}

} // extern "C"
