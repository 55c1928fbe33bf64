//===- Server.cpp - The compiler process ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// quern-compiler-process LIBRARY MIB SECONDS: loads the compiler and handles requests on standard input (Messages.h)
// until that is closed. MIB limits the address space of the process, and SECONDS the processor time of each request.
// Only libquern starts it (QUERN_COMPILER=process).
//
//===----------------------------------------------------------------------===//
#include "Compilation/Messages.h"
#include "Compilation/Sandbox.h"
#include "Desc/Key.h"
#include "Support/Bytes.h"
#include "Support/Error.h"

#include "quern-compiler/Bridge.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <dlfcn.h>
#include <new>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace quern;
using namespace quern::compiler_messages;

constexpr int channel = STDIN_FILENO;

/// Sanitizers reserve memory that the compiler does not need, and open files for their reports.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool hasSanitizer = true;
#else
constexpr bool hasSanitizer = false;
#endif

/// Exits when the other side has closed the socket, even during a request.
void watch() {
  for (;;) {
    pollfd gone{channel, POLLRDHUP, 0};
    if (poll(&gone, 1, -1) > 0)
      _exit(0);
  }
}

bool receive(void *bytes, size_t size) {
  auto *at = static_cast<char *>(bytes);
  while (size > 0) {
    const ssize_t got = read(channel, at, size);
    if (got > 0)
      at += got, size -= static_cast<size_t>(got);
    else if (got == 0 || errno != EINTR)
      return false;
  }
  return true;
}

bool send(std::string_view frame) {
  ByteWriter writer;
  writer.put<uint64_t>(frame.size());
  writer.bytes.append(frame);
  for (std::string_view rest = writer.bytes; !rest.empty();) {
    const ssize_t sent = ::send(channel, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0)
      rest.remove_prefix(static_cast<size_t>(sent));
    else if (errno != EINTR)
      return false;
  }
  return true;
}

/// Returns 0 for a text that is not a number.
uint64_t numberOf(std::string_view digits) {
  uint64_t number = 0;
  return std::from_chars(digits.begin(), digits.end(), number).ec == std::errc() ? number : 0;
}

std::string reply(int status, std::string_view text, std::string_view stageTimes = {}) {
  ByteWriter writer;
  writer.put<int32_t>(status);
  writer.putString(text);
  writer.putString(stageTimes);
  return writer.take();
}

void append(void *context, const void *bytes, size_t size) {
  static_cast<std::string *>(context)->append(static_cast<const char *>(bytes), size);
}

/// Returns the compiler's functions, or the reason why they are unavailable.
Result<const quern_compiler_api *> openCompiler(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return runtimeError("a kernel must be compiled, but the compiler cannot be loaded: ",
                        reason ? reason : "unknown error");
  }
  auto getApi = reinterpret_cast<decltype(&quern_compiler_get_api)>(dlsym(handle, "quern_compiler_get_api"));
  const quern_compiler_api *api = getApi ? getApi(QUERN_COMPILER_API_VERSION) : nullptr;
  if (!api)
    return runtimeError(path, " is not a Quern compiler of interface version ", QUERN_COMPILER_API_VERSION);
  if (compilerBuildId() != api->build_id)
    return runtimeError(path, " is of build ", api->build_id, "; this process is of build ", compilerBuildId());
  return api;
}

std::string answer(const quern_compiler_api &api, std::string_view frame) {
  ByteReader reader(frame);
  const auto kind = reader.get<CompilerRequest::Kind>();
  const auto form = reader.get<int32_t>(), verifyIr = reader.get<int32_t>();
  const std::string target(reader.getString()), descriptor(reader.getString()), source(reader.getString());
  if (!reader.ok() || !reader.atEnd())
    return reply(static_cast<int>(Status::Internal), "the compiler's process received a malformed request");
  const quern_compile_request request{
      descriptor.data(), descriptor.size(), target.c_str(), form, verifyIr, source.empty() ? nullptr : source.c_str()};
  std::string result, error, times;
  const quern_byte_sink results{append, &result}, errors{append, &error}, stages{append, &times};
  int status;
  if (kind == CompilerRequest::Compile) {
    status = api.compile(&request, &results, &errors);
    api.stage_times(&stages);
  } else if (kind == CompilerRequest::Explain) {
    status = api.explain(&request, &results, &errors);
  } else {
    status = api.read(&request, &results, &errors);
  }
  return reply(status, status == 0 ? result : error, times);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  close_range(STDERR_FILENO + 1, ~0u, 0); // descriptors that the caller had open
  limitProcess(hasSanitizer ? 0 : numberOf(argv[2]));
  std::set_new_handler([] { _exit(exitOutOfMemory); });
  std::thread(watch).detach();
  Result<const quern_compiler_api *> api = openCompiler(argv[1]);
  if (!send(api ? reply(0, (*api)->build_id) : reply(static_cast<int>(api.error().status), api.error().message)) ||
      !api)
    _exit(api ? 0 : 1);
  (void)!chdir("/"); // does not keep a folder busy
  if (!hasSanitizer && !forbidSystemCalls())
    _exit(1);
  const uint64_t seconds = numberOf(argv[3]);
  for (uint64_t size; receive(&size, sizeof(size)) && size <= maxFrameBytes;) {
    std::string frame(size, '\0');
    limitProcessorTime(seconds);
    if (!receive(frame.data(), size) || !send({}) || !send(answer(**api, frame)))
      break;
  }
  _exit(0); // skips the compiler's cleanup, which is unnecessary
}
