//===- Child.cpp - A compiler process -------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compilation/Child.h"

#include "Compilation/Messages.h"
#include "Desc/Key.h"
#include "Support/Bytes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace quern {
namespace {

constexpr uint64_t largestPieceBytes = 1u << 20;

/// Moves a descriptor above standard error, where redirections in the child do not overwrite it. The program may have
/// closed its standard descriptors.
int above(int descriptor) {
  if (descriptor < 0 || descriptor > STDERR_FILENO)
    return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(descriptor);
  return moved;
}

void closeIfOpen(int &descriptor) {
  if (descriptor >= 0)
    close(descriptor);
  descriptor = -1;
}

/// Returns true if `descriptor` is still a pidfd of `process`, or of a process that was waited for.
bool standsFor(int descriptor, pid_t process) {
  char text[512];
  std::snprintf(text, sizeof(text), "/proc/self/fdinfo/%d", descriptor);
  const int file = open(text, O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
  if (file >= 0)
    close(file);
  text[std::max<ssize_t>(size, 0)] = '\0';
  const char *field = std::strstr(text, "\nPid:");
  const int found = field ? std::atoi(field + 5) : 0;
  return field && (found == process || found == -1);
}

/// Returns true if the id is that of a child of this process that has not been waited for.
bool isOurChild(pid_t process) {
  siginfo_t ignored;
  return waitid(P_PID, static_cast<id_t>(process), &ignored, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// Returns the environment for the child: that of this process, or an empty one in a set-user-ID program.
char **environmentOfChild() {
  static char *nothing[] = {nullptr};
  return getauxval(AT_SECURE) ? nothing : environ;
}

/// Starts the child with `input` and `errors` as its standard input and standard error, no blocked or ignored signals,
/// and its own process group, so that an interrupt from the terminal does not reach it. The child closes all other
/// descriptors itself.
int spawn(pid_t &process, const std::string &program, char *const *arguments, int input, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawn(&process, program.c_str(), &actions, &attributes, arguments, environmentOfChild());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// Waits until the descriptor is ready for `events`. Returns false after the deadline.
bool awaits(int descriptor, short events, CompilerChild::Deadline deadline) {
  while (descriptor >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0)
      return false;
    pollfd wanted{descriptor, events, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30)));
    if (ready > 0)
      return true;
  }
  return true; // the program has closed it: the next call on it fails
}

} // namespace

Result<void> CompilerChild::start(const CompilerChildSettings &settings) {
  startedWith = settings;
  int sockets[2] = {-1, -1}, pipes[2] = {-1, -1};
  // The pipe is not read during a request, so it must not block: bytes that do not fit are dropped.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) || pipe2(pipes, O_CLOEXEC | O_NONBLOCK)) {
    const int reason = errno;
    closeIfOpen(sockets[0]), closeIfOpen(sockets[1]);
    return runtimeError("the compiler's process cannot be started: ", std::strerror(reason));
  }
  socket = KeptDescriptor(above(sockets[0])), errors = KeptDescriptor(above(pipes[0]));
  int input = above(sockets[1]), output = above(pipes[1]);
  std::string program = settings.program, library = settings.library, memory = std::to_string(settings.memoryMib),
              seconds = std::to_string(settings.seconds);
  char *arguments[] = {program.data(), library.data(), memory.data(), seconds.data(), nullptr};
  const int error = spawn(process, program, arguments, input, output);
  closeIfOpen(input), closeIfOpen(output);
  if (!error) {
    handle = above(static_cast<int>(syscall(SYS_pidfd_open, process, 0))); // fails on kernels before 5.3
    return {};
  }
  abandon();
  return runtimeError("a kernel must be compiled, but the compiler's process cannot be started: ", program, ": ",
                      std::strerror(error));
}

Result<void> CompilerChild::greet(Deadline deadline) {
  std::string frame;
  if (Outcome outcome = receiveFrame(frame, deadline); outcome != Outcome::Answered) {
    Error how = end();
    if (outcome == Outcome::TooLong)
      how.message = "did not start in time";
    return Error{how.status == Status::OutOfMemory ? how.status : Status::RuntimeError,
                 concat("the compiler's process ", how.message)};
  }
  ByteReader reader(frame);
  const auto status = static_cast<Status>(reader.get<int32_t>());
  const std::string text(reader.getString());
  if (reader.ok() && status == Status::Success && text == compilerBuildId())
    return {};
  end();
  if (!reader.ok())
    return runtimeError(startedWith.program, " is not a compiler's process of this libquern");
  if (status != Status::Success)
    return Error{status, text};
  return runtimeError(startedWith.library, " is of build ", text, "; this libquern is of build ", compilerBuildId());
}

bool CompilerChild::isIdle() const {
  pollfd now{socket.get(), POLLIN | POLLRDHUP, 0};
  return now.fd >= 0 && poll(&now, 1, 0) == 0;
}

CompilerChild::Outcome CompilerChild::exchange(std::string_view request, std::string &answer, Deadline deadline) {
  ByteWriter frame;
  frame.put<uint64_t>(request.size());
  frame.bytes.append(request);
  std::string arrived;
  drainErrors();
  Outcome outcome = send(frame.bytes, deadline);
  if (outcome == Outcome::Answered)
    outcome = receiveFrame(arrived, deadline);
  if (outcome != Outcome::Answered)
    return outcome == Outcome::Ended ? Outcome::Unheard : outcome;
  return receiveFrame(answer, deadline);
}

CompilerChild::Outcome CompilerChild::send(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0)
      bytes.remove_prefix(static_cast<size_t>(sent));
    else if (errno != EAGAIN && errno != EINTR)
      return Outcome::Ended;
    else if (!awaits(socket.get(), POLLOUT, deadline))
      return Outcome::TooLong;
  }
  return Outcome::Answered;
}

CompilerChild::Outcome CompilerChild::receive(char *bytes, size_t size, Deadline deadline) {
  while (size > 0) {
    if (!awaits(socket.get(), POLLIN, deadline))
      return Outcome::TooLong;
    const ssize_t got = recv(socket.get(), bytes, size, MSG_DONTWAIT);
    if (got > 0)
      bytes += got, size -= static_cast<size_t>(got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
      return Outcome::Ended;
  }
  return Outcome::Answered;
}

CompilerChild::Outcome CompilerChild::receiveFrame(std::string &frame, Deadline deadline) {
  uint64_t size = 0;
  if (Outcome outcome = receive(reinterpret_cast<char *>(&size), sizeof(size), deadline); outcome != Outcome::Answered)
    return outcome;
  if (size > compiler_messages::maxFrameBytes)
    return Outcome::Ended;
  // Memory is allocated as bytes arrive, not according to the announced size.
  frame.clear();
  while (frame.size() < size) {
    const size_t done = frame.size(), piece = std::min<uint64_t>(size - done, largestPieceBytes);
    frame.resize(done + piece);
    if (Outcome outcome = receive(frame.data() + done, piece, deadline); outcome != Outcome::Answered)
      return outcome;
  }
  return Outcome::Answered;
}

/// Discards messages of earlier requests, which do not explain how this one ends.
void CompilerChild::drainErrors() {
  char text[4096];
  while (read(errors.get(), text, sizeof(text)) > 0)
    ;
}

/// Returns the first nonempty line of standard error, shortened and without control characters.
std::string CompilerChild::errorLine() const {
  char text[4096];
  const ssize_t got = read(errors.get(), text, sizeof(text));
  std::string_view rest(text, got > 0 ? static_cast<size_t>(got) : 0);
  rest.remove_prefix(std::min(rest.find_first_not_of("\n "), rest.size()));
  std::string line(rest.substr(0, std::min<size_t>(rest.find('\n'), 300)));
  std::replace_if(line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return line;
}

/// An exit status stays available until waited for, and SIGKILL does not change that of a process that is exiting.
bool CompilerChild::reap(siginfo_t &how) {
  how = {};
  if (process < 0)
    return false;
  const bool hasHandle = handle >= 0 && standsFor(handle, process);
  if (hasHandle)
    (void)syscall(SYS_pidfd_send_signal, handle, SIGKILL, nullptr, 0);
  else if (isOurChild(process))
    kill(process, SIGKILL);
  int failed;
  do
    failed = hasHandle ? waitid(P_PIDFD, static_cast<id_t>(handle), &how, WEXITED)
                       : waitid(P_PID, static_cast<id_t>(process), &how, WEXITED);
  while (failed && errno == EINTR);
  return !failed;
}

void CompilerChild::interrupt() const { (void)shutdown(socket.get(), SHUT_RDWR); }

Error CompilerChild::end() {
  siginfo_t ending;
  const bool isKnown = reap(ending), hasExited = isKnown && ending.si_code == CLD_EXITED;
  const std::string line = errorLine();
  Error how = internalError("ended");
  if (hasExited)
    how.message = concat("ended with status ", ending.si_status);
  else if (isKnown)
    how.message = concat("was killed by signal ", ending.si_status, " (", strsignal(ending.si_status), ")");
  const bool ranOut = hasExited && ending.si_status == compiler_messages::exitOutOfMemory;
  if (ranOut || line.find("out of memory") != std::string::npos || line.find("bad_alloc") != std::string::npos)
    how.status = Status::OutOfMemory;
  if (!line.empty())
    how.message += ": " + line;
  abandon();
  return how;
}

CompilerChild::~CompilerChild() {
  siginfo_t ignored;
  reap(ignored);
  abandon();
}

void CompilerChild::abandon() {
  socket.reset();
  errors.reset();
  if (handle >= 0 && standsFor(handle, process))
    (void)close(handle);
  handle = process = -1;
}

} // namespace quern
