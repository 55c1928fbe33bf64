//===- Bridge.cpp - The C functions between libquern and its compiler -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Converts bytes to values and back, checks all inputs, and lets no exception, diagnostic or fatal error of LLVM
// escape.
//
//===----------------------------------------------------------------------===//
#include "quern-compiler/Bridge.h"

#include "Artifact/Artifact.h"
#include "Compiler/Calls.h"
#include "Compiler/Compiler.h"
#include "Compiler/Functions.h"
#include "Desc/Key.h"
#include "Support/FloatControl.h"
#include "Targets/Cpu/Linker.h"
#include "Targets/FatalErrors.h"

#include <string>

namespace quern {
namespace {

void send(const quern_byte_sink *sink, std::string_view bytes) {
  if (sink && sink->write)
    sink->write(sink->context, bytes.data(), bytes.size());
}

int report(const Error &error, const quern_byte_sink *sink) {
  send(sink, error.message);
  return static_cast<int>(error.status);
}

/// Sends the result of `work`, or its error.
int deliver(llvm::function_ref<Result<std::string>()> work, const quern_byte_sink *sink, const quern_byte_sink *error) {
  const DefaultFloatEnvironment environment; // constants in kernels must not depend on the caller's rounding mode
  const BridgeCall call;
  if (Result<void> admitted = call.admitted(); !admitted)
    return report(admitted.error(), error);
  Result<std::string> result = std::string();
  if (Result<void> returned = returnFatalErrors([&] { result = work(); }); !returned)
    return report(returned.error(), error);
  if (!result)
    return report(result.error(), error);
  send(sink, *result);
  return static_cast<int>(Status::Success);
}

struct Request {
  PrimitiveDesc desc;
  Target target;
};

Result<Request> parseRequest(const quern_compile_request *request) {
  if (!request || !request->descriptor || !request->target)
    return invalidArguments("compile request: ",
                            !request               ? "the request"
                            : !request->descriptor ? "the descriptor"
                                                   : "the target",
                            " is null");
  QUERN_ASSIGN_OR_RETURN(
      auto desc, PrimitiveDesc::fromBytes({static_cast<const char *>(request->descriptor), request->descriptor_size}));
  QUERN_ASSIGN_OR_RETURN(auto target, Target::parse(request->target));
  return Request{std::move(desc), target};
}

/// Parses the request. Converts exceptions to errors, because none may leave a C function.
Result<Request> readRequest(const quern_compile_request *request) {
  Result<Request> read = Error{};
  Result<void> returned = returnFatalErrors([&] { read = parseRequest(request); });
  return returned ? std::move(read) : Result<Request>(returned.takeError());
}

int compile(const quern_compile_request *request, const quern_byte_sink *result,
            const quern_byte_sink *error) noexcept {
  Result<Request> read = readRequest(request);
  if (!read)
    return report(read.error(), error);
  const bool verifyIr = request->verify_ir != 0;
  const int status = deliver(
      [&] {
        return request->source ? compileProblem(read->desc, read->target, request->form, verifyIr, request->source)
                               : compileProblem(read->desc, read->target, request->form, verifyIr);
      },
      result, error);
  if (status == static_cast<int>(Status::Success))
    hasCompiled.store(true, std::memory_order_relaxed);
  return status;
}

int explain(const quern_compile_request *request, const quern_byte_sink *result,
            const quern_byte_sink *error) noexcept {
  Result<Request> read = readRequest(request);
  if (!read)
    return report(read.error(), error);
  return deliver([&] { return explainProblem(read->desc, read->target); }, result, error);
}

int read(const quern_compile_request *request, const quern_byte_sink *result, const quern_byte_sink *error) noexcept {
  Result<Request> parsedRequest = readRequest(request);
  if (!parsedRequest)
    return report(parsedRequest.error(), error);
  return deliver([&] { return readMlir(parsedRequest->desc, parsedRequest->target); }, result, error);
}

int link(const void *artifact, size_t size, void **entries, size_t entryCount, void **owner,
         const quern_byte_sink *error) noexcept {
  if (!artifact || !entries || !owner) {
    const char *missing = !artifact ? "the artifact" : !entries ? "the entries" : "the owner";
    return report(invalidArguments("link: ", missing, " is null"), error);
  }
  *owner = nullptr;
  const BridgeCall call;
  if (Result<void> admitted = call.admitted(); !admitted)
    return report(admitted.error(), error);
  Result<Artifact> parsed = Artifact::parse({static_cast<const char *>(artifact), size});
  if (!parsed)
    return report(parsed.error(), error);
  if (parsed->codeKind != CodeKind::ElfObject)
    return report(invalidArguments("link: the artifact does not have an ELF object"), error);
  if (parsed->buildId != compilerBuildId())
    return report(invalidArguments("link: the artifact is of build ", parsed->buildId, "; this is ", compilerBuildId()),
                  error);
  if (parsed->entries.size() != entryCount)
    return report(
        invalidArguments("link: ", entryCount, " entries are requested; the artifact has ", parsed->entries.size()),
        error);
  Result<std::unique_ptr<LinkedObject>> linked = linkObject(parsed->code, parsed->entries);
  if (!linked)
    return report(linked.error(), error);
  std::copy((*linked)->entries.begin(), (*linked)->entries.end(), entries);
  *owner = linked->release();
  return static_cast<int>(Status::Success);
}

void release(void *owner) noexcept {
  const BridgeCall call;
  if (call.admitted())
    delete static_cast<LinkedObject *>(owner);
}

int stageTimes(const quern_byte_sink *result) noexcept {
  send(result, lastStageTimes().text());
  return static_cast<int>(Status::Success);
}

} // namespace
} // namespace quern

extern "C" __attribute__((visibility("default"))) const quern_compiler_api *quern_compiler_get_api(uint32_t version) {
  quern::installFatalErrorHandler();
  static const std::string buildId(quern::compilerBuildId());
  static const quern_compiler_api api = {
      QUERN_COMPILER_API_VERSION, buildId.c_str(), quern::compile, quern::link, quern::release, quern::explain,
      quern::stageTimes,          quern::read};
  return version == QUERN_COMPILER_API_VERSION ? &api : nullptr;
}
