//===- Library.cpp - Loading libquern-compiler on the first miss ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Finds and opens the library, and converts its sinks and statuses to Result.
//
//===----------------------------------------------------------------------===//
#include "Compilation/Library.h"

#include "Compilation/CompilerStack.h"
#include "Desc/Key.h"
#include "Support/Forks.h"
#include "Support/LibraryApi.h"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <optional>

namespace quern {
namespace {

constexpr const char *libraryName = "libquern-compiler.so.0";

/// The absolute path of this library's folder; "" if it is unknown. The dynamic linker's path may be relative to the
/// working directory at load time, so the folder is determined before the program can change the directory.
char folder[PATH_MAX] = "";

__attribute__((constructor)) void findFolder() noexcept {
  namespace fs = std::filesystem;
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&folder), &info) || !info.dli_fname)
    return;
  try {
    fs::path self = info.dli_fname;
    if (!self.has_parent_path()) // a program that was found in PATH and contains this code
      self = fs::read_symlink("/proc/self/exe");
    fs::canonical(self.parent_path()).string().copy(folder, sizeof(folder) - 1);
  } catch (...) { // then paths must come from the environment
  }
}

using ByteSink = StringSink<quern_byte_sink>;

Result<const quern_compiler_api *> openLibrary() {
  QUERN_ASSIGN_OR_RETURN(std::string path, CompilerLibrary::path());
  return openApi<quern_compiler_api>(path, "quern_compiler_get_api", QUERN_COMPILER_API_VERSION,
                                     "a kernel must be compiled, but the compiler", "Quern compiler",
                                     [&](const quern_compiler_api &api) {
                                       return compilerBuildId() == api.build_id
                                                  ? std::optional<Error>()
                                                  : runtimeError(path, " is of build ", api.build_id,
                                                                 "; this libquern is of build ", compilerBuildId());
                                     });
}

Result<std::string> finish(int status, ByteSink &result, ByteSink &error) {
  if (result.failed || error.failed)
    return Error{Status::OutOfMemory, "out of memory while receiving the compiler's result"};
  if (status == 0)
    return std::move(result.text);
  if (error.text.empty())
    error.text = concat("the compiler failed with status ", status, " without a reason");
  return Error{static_cast<Status>(status), std::move(error.text)};
}

} // namespace

std::optional<std::string> folderOfLibrary() {
  return folder[0] ? std::optional<std::string>(concat(folder, '/')) : std::nullopt;
}

Result<std::string> fileBesideLibrary(const char *variable, const char *name) {
  if (const char *path = secure_getenv(variable); path && *path) {
    if (path[0] != '/')
      return invalidArguments(variable, " is '", path, "'; it must be an absolute path");
    return std::string(path);
  }
  const std::optional<std::string> folder = folderOfLibrary();
  if (!folder)
    return runtimeError("cannot find where libquern was loaded from; set ", variable, " to the path of ", name);
  return *folder + name;
}

Result<std::string> CompilerLibrary::path() { return fileBesideLibrary("QUERN_COMPILER_LIBRARY", libraryName); }

bool CompilerLibrary::verifiesIr() {
#ifdef QUERN_ENABLE_CHECKS
  return true;
#else
  return false;
#endif
}

Result<const CompilerLibrary *> CompilerLibrary::get() {
  static ForkMutex mutex;
  static constinit std::optional<CompilerLibrary> library;
  std::lock_guard lock(mutex);
  if (!library) {
    Result<const quern_compiler_api *> api = nullptr;
    QUERN_RETURN_IF_ERROR(onCompilerStack([&] { api = openLibrary(); }));
    if (!api)
      return api.takeError();
    library = CompilerLibrary(*api);
  }
  return &*library;
}

Result<std::string> CompilerLibrary::answer(const CompilerRequest &request, std::string *stageTimes) const {
  const quern_compile_request problem{request.descriptor.data(),
                                      request.descriptor.size(),
                                      request.target.c_str(),
                                      request.form,
                                      verifiesIr(),
                                      request.source.empty() ? nullptr : request.source.c_str()};
  const auto function = request.kind == CompilerRequest::Compile   ? api->compile
                        : request.kind == CompilerRequest::Explain ? api->explain
                                                                   : api->read;
  const ForkSection section;
  ByteSink result, error, times;
  int status = 0;
  QUERN_RETURN_IF_ERROR(onCompilerStack([&] {
    status = function(&problem, &result.sink, &error.sink);
    if (stageTimes) // the compiler stores them per thread
      api->stage_times(&times.sink);
  }));
  if (stageTimes)
    *stageTimes = std::move(times.text);
  return finish(status, result, error);
}

Result<CompilerLibrary::Linked> CompilerLibrary::link(std::string_view artifact, size_t entryCount) const {
  const ForkSection section;
  ByteSink none, error;
  Linked linked;
  linked.entries.resize(entryCount);
  void *owner = nullptr;
  int status = 0;
  QUERN_RETURN_IF_ERROR(onCompilerStack([&] {
    status = api->link(artifact.data(), artifact.size(), linked.entries.data(), entryCount, &owner, &error.sink);
  }));
  QUERN_RETURN_IF_ERROR(finish(status, none, error));
  linked.owner = std::shared_ptr<void>(owner, [release = api->release](void *linkedObject) {
    const ForkSection ofRelease;
    release(linkedObject);
  });
  return linked;
}

} // namespace quern
