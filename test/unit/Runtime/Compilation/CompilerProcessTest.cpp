//===- CompilerProcessTest.cpp - Compiling in another process -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the real process with the fake compiler, which crashes, hangs or uses all memory: each is an error of that
// call, the next call succeeds, and no process, zombie or descriptor remains.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestArtifacts.h"
#include "Runtime/TestSupport.h"

#include "Support/Error.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace quern {
namespace {

namespace fs = std::filesystem;

#if defined(__has_feature)
constexpr bool hasAddressSanitizer = __has_feature(address_sanitizer),
               hasThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool hasAddressSanitizer = false, hasThreadSanitizer = false;
#endif

struct Process {
  pid_t id;
  char state; ///< state of /proc; Z: zombie
  bool operator==(const Process &) const = default;
};

/// Returns the state and the parent of a process; the state is 0 if the process does not exist.
std::pair<char, pid_t> look(pid_t id) {
  std::ifstream file(concat("/proc/", id, "/stat"));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  char state = 0;
  pid_t parent = 0;
  if (const size_t nameEnd = text.rfind(')'); nameEnd != std::string::npos)
    std::sscanf(text.c_str() + nameEnd + 1, " %c %d", &state, &parent);
  return {state, parent};
}

/// Returns the compiler processes that are children of `parent`.
std::vector<Process> compilersOf(pid_t parent) {
  std::vector<Process> found;
  for (const fs::directory_entry &entry : fs::directory_iterator("/proc")) {
    const pid_t id = std::atoi(entry.path().filename().c_str());
    std::ifstream name(entry.path() / "comm");
    std::string text;
    if (id > 0 && std::getline(name, text) && text == "quern-compiler-") // a truncated name
      if (const auto [state, itsParent] = look(id); itsParent == parent)
        found.push_back({id, state});
  }
  return found;
}

size_t openDescriptors() {
  fs::directory_iterator entries("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}

/// Returns the targets of the open descriptors, for messages.
std::string descriptors() {
  std::string text;
  for (const fs::directory_entry &entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    text += fs::read_symlink(entry.path(), gone).string() + "\n";
  }
  return text;
}

bool becomesTrue(const std::function<bool()> &condition) {
  for (int i = 0; i < 500; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10)))
    if (condition())
      return true;
  return false;
}

/// Returns another memory limit at each call, so that the next request starts a process with the present environment.
std::string nextMib() {
  static int mib = 2000;
  return std::to_string(++mib);
}

class CompilerProcessTest : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  stream order{device};
  test::ScopedCaches caches{""};
  test::ScopedEnvironment choice{"QUERN_COMPILER", "process"}, memory{"QUERN_COMPILER_MIB", nextMib()};
  int64_t rows = 0;

  /// Compiles a problem that is not cached and runs it; returns the message, empty if everything succeeds.
  std::string compileOne() {
    test::ScopedCaches::emptyMemory();
    try {
      test::Run run(device, test::lineOf(3 + rows++ % 100));
      run.execute(order);
      return run.wrong() ? "wrong" : std::string(run.kernel.info().linker) == "loader" ? "" : "linked by another";
    } catch (const error &failure) {
      status = failure.status;
      return failure.what();
    }
  }
  /// Like compileOne(), with a misbehaving compiler. Its process is not used for later requests.
  std::string compileWith(const char *mode) {
    test::ScopedEnvironment fresh("QUERN_COMPILER_MIB", nextMib()), fake("QUERN_FAKE", mode);
    return compileOne();
  }
  quern_status_t status = quern_success;
};

void expectPart(const std::string &message, const std::string &part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST_F(CompilerProcessTest, OneServesManyRequests) {
  EXPECT_EQ(compileOne(), "");
  const std::vector<Process> first = compilersOf(getpid());
  ASSERT_EQ(first.size(), 1u);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(compileOne(), "");
  const std::vector<Process> last = compilersOf(getpid());
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].id, first[0].id);
  quern_blob_t blob = nullptr;
  ASSERT_EQ(quern_explain(test::lineOf(3).c_str(), nullptr, &blob), quern_success);
  const void *text = nullptr;
  size_t size = 0;
  quern_blob_get_data(blob, &text, &size);
  EXPECT_EQ(std::string(static_cast<const char *>(text), size), "a test kernel");
  quern_blob_destroy(blob);
  EXPECT_EQ(compile(test::lineOf(3), quern_form_llvm).substr(0, 7), "form 4 ");
}

TEST_F(CompilerProcessTest, ACrashIsAnErrorOfOneCall) {
  for (auto [mode, part] : {std::pair("crash", "signal 11"), std::pair("exit", "ended with status 3"),
                            std::pair("abort", "LLVM ERROR: the fake cannot go on")}) {
    if ((hasAddressSanitizer || hasThreadSanitizer) && std::string_view(mode) == "crash")
      continue; // a sanitizer handles the signal
    const std::string message = compileWith(mode);
    EXPECT_EQ(status, quern_internal_error) << message;
    expectPart(message, part);
    expectPart(message, concat("in 'softmax fwd_i src=f32:", 2 + rows, "x16")); // the problem to reproduce it with
    expectPart(message, " for ");
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(compileOne(), "");
  }
}

TEST_F(CompilerProcessTest, DeviceCodeIsCompiledInTheProcess) {
  test::ScopedEnvironment fake("QUERN_FAKE", "crash");
  if (hasAddressSanitizer || hasThreadSanitizer)
    GTEST_SKIP() << "a sanitizer handles crashes itself";
  std::string message;
  try {
    compile(test::lineOf(3), quern_form_spirv, "spirv64:sg=16");
  } catch (const error &failure) {
    status = failure.status;
    message = failure.what();
  }
  EXPECT_EQ(status, quern_internal_error) << message;
  expectPart(message, "signal 11 (Segmentation fault) in 'softmax fwd_i src=f32:3x16");
  expectPart(message, " for spirv64:sg=16");
}

TEST_F(CompilerProcessTest, RefusalsOfTheCompilerAreReported) {
  expectPart(compileWith("refuse"), "the fake compiler was told to refuse");
  EXPECT_EQ(status, quern_unimplemented);
  expectPart(compileWith("garbage"), "returned an invalid artifact");
  EXPECT_EQ(compileWith("noise"), "");
}

/// A module that takes over the compiler cannot leave its process.
TEST_F(CompilerProcessTest, ItHasNoFilesNetworkOrProcesses) {
  if (hasAddressSanitizer || hasThreadSanitizer)
    GTEST_SKIP() << "with a sanitizer there is no sandbox";
  const std::string message = compileWith("escape");
  expectPart(message, "it could: ");
  EXPECT_EQ(message.substr(message.find("it could: ")), "it could: ") << "the compiler could do something else";
  EXPECT_EQ(status, quern_unimplemented);
}

/// Daemons close all descriptors; files that they open later get the numbers of the process's socket and pipe.
TEST_F(CompilerProcessTest, ADescriptorOfTheProgramIsNotUsed) {
  if (hasThreadSanitizer)
    GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
  EXPECT_EQ(compileOne(), "");
  const pid_t child = fork();
  if (child == 0) {
    bool isFine = compileOne().empty();
    close_range(3, ~0u, 0);
    int sockets[8][2]; // a read would block
    for (auto &pair : sockets)
      isFine = isFine && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
    isFine = isFine && compileOne().empty();
    for (auto &pair : sockets)
      for (const int descriptor : pair) {
        char byte;
        isFine = isFine && fcntl(descriptor, F_GETFD) >= 0 && recv(descriptor, &byte, 1, MSG_DONTWAIT) < 0 &&
                 errno == EAGAIN; // nothing was written
      }
    _exit(isFine ? 0 : 1);
  }
  int result = -1;
  EXPECT_TRUE(becomesTrue([&] { return waitpid(child, &result, WNOHANG) == child; }));
  EXPECT_EQ(result, 0);
  kill(child, SIGKILL);
}

TEST_F(CompilerProcessTest, AHangEndsAtTheTimeLimit) {
  {
    test::ScopedEnvironment limit("QUERN_COMPILER_SECONDS", "1");
    const auto start = std::chrono::steady_clock::now();
    const std::string message = compileWith("hang");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    EXPECT_EQ(status, quern_internal_error) << message;
    expectPart(message, "took longer than 1 s (QUERN_COMPILER_SECONDS) in 'softmax");
  }
  EXPECT_EQ(compileOne(), "");
}

TEST_F(CompilerProcessTest, MemoryHasALimit) {
  if (hasAddressSanitizer || hasThreadSanitizer)
    GTEST_SKIP() << "with a sanitizer there is no memory limit";
  std::string message;
  {
    test::ScopedEnvironment little("QUERN_COMPILER_MIB", "512"), fake("QUERN_FAKE", "memory");
    message = compileOne();
  }
  EXPECT_EQ(status, quern_out_of_memory) << message;
  expectPart(message, "needs more than 512 MiB (QUERN_COMPILER_MIB) in 'softmax");
  EXPECT_EQ(compileOne(), "");
}

TEST_F(CompilerProcessTest, KilledBetweenRequestsItIsStartedAgain) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(compileOne(), "");
    for (const Process &process : compilersOf(getpid()))
      kill(process.id, SIGKILL);
  }
  EXPECT_EQ(compileOne(), "");
  const std::vector<Process> left = compilersOf(getpid());
  ASSERT_EQ(left.size(), 1u);
  EXPECT_NE(left[0].state, 'Z');
}

TEST_F(CompilerProcessTest, KilledDuringARequestItFailsThatOne) {
  EXPECT_EQ(compileOne(), "");
  std::thread killer([parent = getpid(), before = compilersOf(getpid())] {
    std::vector<Process> now;
    becomesTrue([&] {
      now = compilersOf(parent);
      return now.size() == 1 && now[0].id != before[0].id;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    for (const Process &process : now)
      kill(process.id, SIGKILL);
  });
  const std::string message = compileWith("hang");
  killer.join();
  expectPart(message, "was killed by signal 9");
  EXPECT_EQ(status, quern_internal_error);
  EXPECT_EQ(compileOne(), "");
}

TEST_F(CompilerProcessTest, NoDescriptorsLeak) {
  EXPECT_EQ(compileOne(), "");
  const size_t before = openDescriptors();
  for (int i = 0; i < 5; ++i) {
    EXPECT_NE(compileWith("abort"), "");
    EXPECT_EQ(compileOne(), "");
  }
  if (!hasThreadSanitizer) // its symbolizer has pipes
    EXPECT_EQ(openDescriptors(), before) << descriptors();
  EXPECT_EQ(compilersOf(getpid()).size(), 1u);
}

TEST_F(CompilerProcessTest, ItInheritsOnlyItsSocket) {
  int leaked[2];
  ASSERT_EQ(pipe(leaked), 0); // inherited on exec
  EXPECT_EQ(compileOne(), "");
  close(leaked[1]);
  char byte;
  EXPECT_EQ(read(leaked[0], &byte, 1), 0); // end of file: no other process has it
  close(leaked[0]);
}

TEST_F(CompilerProcessTest, ThreadsCompileAtOnce) {
  test::ScopedEnvironment slow("QUERN_FAKE", "slow");
  test::ScopedCaches::emptyMemory();
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3; ++i)
        try {
          test::Run run(device, test::lineOf(200 + t * 3 + i));
          run.execute(order);
          failures += run.wrong() != 0;
        } catch (const error &) {
          ++failures;
        }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  const size_t count = compilersOf(getpid()).size();
  EXPECT_GE(count, 1u);
  EXPECT_LE(count, std::max(1u, std::thread::hardware_concurrency()));
}

TEST_F(CompilerProcessTest, AChildOfAForkStartsItsOwnProcess) {
  if (hasThreadSanitizer)
    GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
  EXPECT_EQ(compileOne(), "");
  const std::vector<Process> ours = compilersOf(getpid());
  const pid_t child = fork();
  if (child == 0) {
    const bool isFine = compileOne().empty() && compilersOf(getpid()).size() == 1;
    _exit(isFine ? 0 : 1);
  }
  int result = -1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(compileOne(), "");
  const std::vector<Process> now = compilersOf(getpid());
  ASSERT_EQ(now.size(), 1u);
  EXPECT_EQ(now[0].id, ours[0].id);
}

/// Also if the parent is killed during a request.
TEST_F(CompilerProcessTest, ItEndsWithItsParent) {
  if (hasThreadSanitizer)
    GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
  for (const char *mode : {"", "hang"}) {
    const pid_t child = fork();
    if (child == 0) {
      compileWith(mode);
      pause();
    }
    std::vector<Process> started;
    EXPECT_TRUE(becomesTrue([&] { return (started = compilersOf(child)).size() == 1; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    for (const Process &process : started)
      EXPECT_TRUE(becomesTrue([&] {
        const char state = look(process.id).first;
        return state == 0 || state == 'Z'; // its new parent reaps it
      })) << mode;
  }
}

TEST_F(CompilerProcessTest, SaysWhatIsMissing) {
  {
    test::ScopedEnvironment absent("QUERN_COMPILER_PROCESS", "/absent/process");
    expectPart(compileOne(), "the compiler's process cannot be started: /absent/process: No such file or directory");
    EXPECT_EQ(status, quern_runtime_error);
  }
  {
    test::ScopedEnvironment other("QUERN_COMPILER_PROCESS", "/bin/true");
    expectPart(compileOne(), "the compiler's process ended with status 0");
    EXPECT_EQ(status, quern_runtime_error);
  }
  test::ScopedEnvironment absent("QUERN_COMPILER_LIBRARY", "/absent/library.so");
  expectPart(compileOne(), "the compiler cannot be loaded: /absent/library.so");
  EXPECT_EQ(status, quern_runtime_error);
}

TEST_F(CompilerProcessTest, LinesOfEarlierCompilationsAreNotReported) {
  test::ScopedEnvironment fresh("QUERN_COMPILER_MIB", nextMib()), fake("QUERN_FAKE", "later");
  EXPECT_EQ(compileOne(), "");
  const std::string message = compileOne();
  expectPart(message, "LLVM ERROR: the second in 'softmax");
  EXPECT_EQ(status, quern_internal_error) << message;
}

/// Returns a script that replaces the compiler process: its standard input is the socket.
std::string scriptOf(const std::string &commands) {
  const fs::path path = fs::temp_directory_path() / concat("quern-not-a-compiler-", getpid(), ".sh");
  std::ofstream(path) << "#!/bin/sh\n" << commands << '\n';
  fs::permissions(path, fs::perms::owner_all);
  return path.string();
}

TEST_F(CompilerProcessTest, MalformedMessagesAreErrors) {
  // Half a length, half a frame, and malformed messages.
  for (auto [commands, part] :
       {std::pair("printf 'abc' >&0", "ended with status 0"),
        std::pair("printf '\\0\\0\\0\\100\\0\\0\\0\\0ab' >&0", "ended with status 0"), // 1 GiB, of which 2 bytes arrive
        std::pair("printf '\\100\\0\\0\\0\\0\\0\\0\\0ab' >&0", "ended with status 0"),
        std::pair("printf '\\4\\0\\0\\0\\0\\0\\0\\0abcd' >&0; sleep 9", "is not a compiler's process"),
        std::pair("printf '\\377\\377\\377\\377\\377\\377\\377\\377' >&0; sleep 9", "was killed by signal 9"),
        std::pair("sleep 9", "did not start in time"), std::pair("kill -STOP $$", "did not start in time")}) {
    const std::string script = scriptOf(commands);
    test::ScopedEnvironment limit("QUERN_COMPILER_SECONDS", "1"), other("QUERN_COMPILER_PROCESS", script.c_str());
    expectPart(compileOne(), part);
    EXPECT_EQ(status, quern_runtime_error) << commands;
    fs::remove(script);
  }
  EXPECT_EQ(compileOne(), "");
}

/// If a program ignores SIGCHLD, the operating system reaps its children, and their exit status is lost.
TEST_F(CompilerProcessTest, WorksIfTheProgramReapsAllChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  expectPart(compileWith("abort"), "the compiler's process ended: LLVM ERROR: the fake cannot go on in 'softmax");
  EXPECT_EQ(compileOne(), "");
  for (const Process &process : compilersOf(getpid()))
    kill(process.id, SIGKILL);
  EXPECT_EQ(compileOne(), "");
  std::signal(SIGCHLD, before);
}

TEST_F(CompilerProcessTest, ClosedStandardStreamsAreNotTaken) {
  if (hasThreadSanitizer)
    GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
  const pid_t child = fork();
  if (child == 0) {
    for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      close(stream);
    bool isFine = compileOne().empty();
    for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      isFine &= fcntl(stream, F_GETFD) < 0; // the program may reuse these numbers
    _exit(isFine && compileWith("abort").find("LLVM ERROR") != std::string::npos ? 0 : 1);
  }
  int result = -1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
}

TEST_F(CompilerProcessTest, BadSettingsAreRefused) {
  for (auto [name, value, part] :
       {std::tuple("QUERN_COMPILER", "proces", "it must be library or process"),
        std::tuple("QUERN_COMPILER_SECONDS", "0", "1 to 86400"), std::tuple("QUERN_COMPILER_SECONDS", "1.5", "'1.5'"),
        std::tuple("QUERN_COMPILER_MIB", "many", "'many'; it must be a number of MiB"),
        std::tuple("QUERN_COMPILER_MIB", "99999999999999999999", "512 to"),
        std::tuple("QUERN_LINKER", "orc", "linked by the loader")}) {
    test::ScopedEnvironment bad(name, value);
    expectPart(compileOne(), part);
    EXPECT_EQ(status, quern_invalid_arguments) << name << "=" << value;
  }
  EXPECT_EQ(compileOne(), "");
}

} // namespace
} // namespace quern
