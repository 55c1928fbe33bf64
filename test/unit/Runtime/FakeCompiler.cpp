//===- FakeCompiler.cpp - A compiler library without LLVM -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements Bridge.h with the test kernels, so that caches, single flight, loading and execution can be tested without
// the compiler, above all under ThreadSanitizer. QUERN_FAKE selects misbehavior: refuse, garbage, foreign-key,
// bad-object, slow, or, for a compiler process: crash, abort, exit, hang, memory, noise, later (a line on standard
// error, and from the second request on an abort with another line), escape (tries the system calls that hijacked code
// would try, and refuses with a list of those that succeeded), spin (busy loop). Its link() is the runtime's loader.
//
//===----------------------------------------------------------------------===//
#include "Elf/Loader.h"
#include "Runtime/TestArtifacts.h"

#include "quern-compiler/Bridge.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace quern;

int answer(const quern_byte_sink *sink, std::string_view bytes, int status) {
  sink->write(sink->context, bytes.data(), bytes.size());
  return status;
}

/// Misbehaves according to `mode`.
void misbehave(std::string_view mode) {
  if (mode == "slow")
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (mode == "crash")
    std::raise(SIGSEGV);
  if (mode == "abort") {
    std::fputs("LLVM ERROR: the fake cannot go on\nStack dump:\n", stderr);
    std::abort();
  }
  if (mode == "later") {
    static bool isSecond = false;
    std::fputs(isSecond ? "LLVM ERROR: the second\n" : "a warning of the first: out of memory\n", stderr);
    if (std::exchange(isSecond, true))
      std::abort();
  }
  if (mode == "exit")
    std::exit(3);
  while (mode == "hang")
    std::this_thread::sleep_for(std::chrono::seconds(1));
  while (mode == "spin")
    asm volatile("");
  static std::vector<std::string> allocated;
  while (mode == "memory")
    allocated.emplace_back(size_t{16} << 20, 'x');
  for (int line = 0; line < 20000 && mode == "noise"; ++line) // more than a pipe buffers
    std::fputs("a fake compiler that talks\n", line % 2 ? stdout : stderr);
}

/// Returns the names of the system calls that succeeded although the process must not have them.
std::string escape() {
  std::string worked;
  const auto attempt = [&](const char *name, bool hasWorked) { worked += hasWorked ? concat(name, ' ') : ""; };
  attempt("open", open("/etc/passwd", O_RDONLY) >= 0);
  attempt("create", open("/tmp/quern-fake-compiler", O_WRONLY | O_CREAT, 0600) >= 0);
  attempt("unlink", unlink("/tmp/quern-fake-compiler") == 0);
  attempt("socket", socket(AF_INET, SOCK_STREAM, 0) >= 0);
  attempt("socketpair", [] {
    int pair[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
  }());
  const pid_t child = fork();
  if (child == 0)
    _exit(0);
  attempt("fork", child > 0);
  char *const arguments[] = {const_cast<char *>("true"), nullptr};
  attempt("exec", execv("/bin/true", arguments) == 0);
  attempt("signal its parent", kill(getppid(), 0) == 0);
  attempt("trace", ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0);
  attempt("executable pages",
          mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  const rlimit much{RLIM_INFINITY, RLIM_INFINITY};
  attempt("limits", setrlimit(RLIMIT_AS, &much) == 0);
  std::thread([] {}).join(); // threads are allowed
  return worked;
}

Result<std::string> build(const quern_compile_request &request) {
  const char *fake = std::getenv("QUERN_FAKE");
  const std::string_view mode = fake ? fake : "";
  if (mode == "refuse")
    return unimplemented("the fake compiler was told to refuse");
  if (mode == "garbage")
    return std::string("this is no artifact");
  if (mode == "escape")
    return unimplemented("it could: ", escape());
  misbehave(mode);
  Result<PrimitiveDesc> desc =
      PrimitiveDesc::fromBytes({static_cast<const char *>(request.descriptor), request.descriptor_size});
  Result<Target> target = Target::parse(request.target);
  if (!desc || !target)
    return desc ? target.takeError() : desc.takeError();
  Result<VerifiedProblem> problem = verify(*desc, *target);
  if (!problem)
    return problem.takeError();
  if (request.form != QUERN_COMPILER_ARTIFACT)
    return concat("form ", request.form, " of ", problem->desc.text());
  Artifact artifact = test::makeTestArtifact(*problem, *target);
  if (mode == "foreign-key")
    artifact.keyBytes += "x";
  if (mode == "bad-object")
    artifact.code.resize(artifact.code.size() / 2);
  return artifact.serialize();
}

int compile(const quern_compile_request *request, const quern_byte_sink *result, const quern_byte_sink *error) {
  Result<std::string> bytes = build(*request);
  if (!bytes)
    return answer(error, bytes.error().message, static_cast<int>(bytes.error().status));
  return answer(result, *bytes, 0);
}

int link(const void *bytes, size_t size, void **entries, size_t count, void **owner, const quern_byte_sink *error) {
  Result<Artifact> artifact = Artifact::parse({static_cast<const char *>(bytes), size});
  Result<LoadedObject> loaded =
      artifact ? LoadedObject::load(artifact->code, artifact->entries) : Result<LoadedObject>(artifact.takeError());
  if (!loaded)
    return answer(error, loaded.error().message, static_cast<int>(loaded.error().status));
  for (size_t i = 0; i < count; ++i)
    entries[i] = loaded->addresses()[i];
  *owner = new LoadedObject(std::move(*loaded));
  return 0;
}

void release(void *owner) { delete static_cast<LoadedObject *>(owner); }

int explain(const quern_compile_request *, const quern_byte_sink *result, const quern_byte_sink *) {
  return answer(result, "a test kernel", 0);
}

int stageTimes(const quern_byte_sink *result) { return answer(result, "emit 0.1 codegen 2", 0); }

} // namespace

extern "C" __attribute__((visibility("default"))) const quern_compiler_api *quern_compiler_get_api(uint32_t version) {
  static const quern_compiler_api api{
      QUERN_COMPILER_API_VERSION, compilerBuildId().data(), compile, link, release, explain, stageTimes};
  (void)test::readTestObject();
  return version == QUERN_COMPILER_API_VERSION ? &api : nullptr;
}
