//===- Processes.cpp - Work that several processes share ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each process writes "NUMBER LINE" to its own unnamed temporary file, which is read when all processes are done.
//
//===----------------------------------------------------------------------===//
#include "Processes.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quern {
namespace {

struct FileCloser {
  void operator()(FILE *file) const { (void)std::fclose(file); }
};

struct Worker {
  pid_t process = -1;
  std::unique_ptr<FILE, FileCloser> output;
};

/// Number of the next piece of work, in shared memory.
class SharedCounter {
public:
  SharedCounter() {
    void *memory =
        mmap(nullptr, sizeof(std::atomic<size_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    next = memory == MAP_FAILED ? nullptr : new (memory) std::atomic<size_t>(0);
  }
  ~SharedCounter() {
    if (next)
      munmap(next, sizeof(*next));
  }
  SharedCounter(const SharedCounter &) = delete;
  SharedCounter &operator=(const SharedCounter &) = delete;
  bool isValid() const { return next != nullptr; }
  size_t take() { return next->fetch_add(1); }

private:
  std::atomic<size_t> *next;
};

[[noreturn]] void work(size_t count, SharedCounter &counter, FILE *output,
                       const std::function<std::string(size_t)> &make) {
  try {
    for (size_t i = counter.take(); i < count; i = counter.take())
      std::fprintf(output, "%zu %s\n", i, make(i).c_str());
  } catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    _exit(1);
  }
  _exit(std::fflush(output) == 0 ? 0 : 1); // data that the parent has buffered is not written twice
}

Result<Worker> start(size_t count, SharedCounter &counter, const std::function<std::string(size_t)> &make) {
  Worker worker;
  worker.output.reset(std::tmpfile());
  if (!worker.output)
    return runtimeError("cannot make a temporary file: ", std::strerror(errno));
  worker.process = fork();
  if (worker.process == 0)
    work(count, counter, worker.output.get(), make);
  if (worker.process < 0)
    return runtimeError("cannot start a process: ", std::strerror(errno));
  return worker;
}

/// Waits for the process and stores its lines at their numbers.
Result<void> finish(Worker &worker, std::vector<std::string> &lines) {
  int status = 0;
  if (waitpid(worker.process, &status, 0) != worker.process || status != 0)
    return internalError("a process ended with ", WIFSIGNALED(status) ? "signal " : "status ",
                         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  if (std::fseek(worker.output.get(), 0, SEEK_SET) != 0)
    return runtimeError("cannot read a temporary file: ", std::strerror(errno));
  char *line = nullptr;
  size_t capacity = 0;
  for (ssize_t size; (size = getline(&line, &capacity, worker.output.get())) > 0;) {
    std::string_view text(line, static_cast<size_t>(size));
    lines[std::strtoull(line, nullptr, 10)] = text.substr(text.find(' ') + 1, text.size() - text.find(' ') - 2);
  }
  std::free(line);
  return {};
}

} // namespace

Result<std::vector<std::string>> inProcesses(size_t count, int64_t processes,
                                             const std::function<std::string(size_t)> &make) {
  SharedCounter counter;
  if (!counter.isValid())
    return runtimeError("cannot map memory: ", std::strerror(errno));
  std::cout.flush();
  std::vector<Worker> workers;
  Result<void> done;
  for (int64_t i = 0; i < processes && done; ++i) {
    Result<Worker> started = start(count, counter, make);
    if (started)
      workers.push_back(std::move(*started));
    else
      done = started.takeError();
  }
  std::vector<std::string> lines(count);
  for (Worker &worker : workers)
    if (Result<void> finished = finish(worker, lines); !finished && done)
      done = std::move(finished);
  return done ? Result<std::vector<std::string>>(std::move(lines)) : Result<std::vector<std::string>>(done.takeError());
}

} // namespace quern
