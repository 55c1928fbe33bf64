//===- Workers.cpp - Jobs in several processes ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Children take the next job from shared memory and write a record for each finished job to a pipe. The job of a child
// that terminates early is known from shared memory, and another child replaces it.
//
//===----------------------------------------------------------------------===//
#include "Workers.h"

#include "Support/Bytes.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quern {
namespace {

constexpr size_t noJob = SIZE_MAX;

struct SharedState {
  std::atomic<size_t> next{0};
  std::atomic<size_t> current[256]; ///< present job of each worker
};
constexpr size_t maxWorkers = std::size(SharedState{}.current);

struct Unmap {
  void operator()(SharedState *state) const { munmap(state, sizeof(SharedState)); }
};
using SharedRef = std::unique_ptr<SharedState, Unmap>;

SharedRef makeShared() {
  void *memory = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return SharedRef(memory == MAP_FAILED ? nullptr : new (memory) SharedState());
}

struct Worker {
  pid_t process = 0;
  int pipe = -1;        ///< the worker writes to it; -1: the worker has terminated
  std::string received; ///< start of an incomplete record
};

/// Returns a record of job, status and message.
std::string recordOf(size_t job, const Result<void> &result) {
  ByteWriter out;
  out.put<uint64_t>(job);
  out.put<int32_t>(static_cast<int32_t>(result.error().status));
  out.putString(result.error().message);
  return out.take();
}

bool writeAll(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(to, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

/// Main function of a child.
[[noreturn]] void work(SharedState &shared, size_t worker, size_t count, const std::function<Result<void>(size_t)> &run,
                       int to) {
  for (size_t job; (job = shared.next++) < count;) {
    shared.current[worker] = job;
    if (!writeAll(to, recordOf(job, run(job))))
      break;
    shared.current[worker] = noJob;
  }
  _exit(0); // without flushing or destroying objects of the parent
}

class Pool {
public:
  Pool(SharedRef shared, size_t count, const std::function<Result<void>(size_t)> &run,
       const std::function<void()> &advance)
      : shared(std::move(shared)), count(count), run(run), advance(advance) {}

  Result<std::vector<FailedJob>> runAll(size_t processes) {
    workers.resize(std::clamp<size_t>(processes, 1, std::min(maxWorkers, std::max<size_t>(count, 1))));
    bool isStarted = false;
    for (size_t i = 0; i < workers.size(); ++i)
      isStarted |= start(i);
    if (!isStarted)
      return runtimeError("cannot start a process: ", std::strerror(errno));
    while (receive()) {}
    std::sort(failed.begin(), failed.end(), [](const FailedJob &a, const FailedJob &b) { return a.job < b.job; });
    return std::move(failed);
  }

private:
  bool start(size_t index) {
    int ends[2];
    if (pipe(ends) != 0)
      return false;
    shared->current[index] = noJob;
    const pid_t process = fork();
    if (process == 0) {
      close(ends[0]);
      work(*shared, index, count, run, ends[1]);
    }
    close(ends[1]);
    if (process < 0) {
      close(ends[0]);
      return false;
    }
    workers[index] = {process, ends[0], {}};
    return true;
  }

  /// Waits for records or the end of some workers. Returns false if no worker is left.
  bool receive() {
    std::vector<pollfd> waits;
    std::vector<size_t> owners;
    for (size_t i = 0; i < workers.size(); ++i)
      if (workers[i].pipe >= 0) {
        waits.push_back({workers[i].pipe, POLLIN, 0});
        owners.push_back(i);
      }
    if (waits.empty())
      return false;
    poll(waits.data(), waits.size(), -1);
    for (size_t i = 0; i < waits.size(); ++i)
      if (waits[i].revents)
        receiveFrom(owners[i]);
    return true;
  }

  void receiveFrom(size_t index) {
    Worker &worker = workers[index];
    char buffer[4096];
    const ssize_t size = read(worker.pipe, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR)
      return;
    if (size <= 0) {
      finish(index);
      return;
    }
    worker.received.append(buffer, static_cast<size_t>(size));
    for (;;) {
      ByteReader in(worker.received);
      const auto job = in.get<uint64_t>();
      const auto status = static_cast<Status>(in.get<int32_t>());
      std::string message(in.getString());
      if (!in.ok())
        return;
      note(static_cast<size_t>(job), {status, std::move(message)});
      worker.received.erase(0, worker.received.size() - in.remaining());
    }
  }

  void note(size_t job, Error error) {
    if (error.status != Status::Success)
      failed.push_back({job, std::move(error)});
    advance();
  }

  /// Handles the end of a worker, and replaces it if it had a job.
  void finish(size_t index) {
    Worker &worker = workers[index];
    close(worker.pipe);
    worker.pipe = -1;
    int status = 0;
    while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {}
    const size_t job = shared->current[index];
    if (job == noJob)
      return;
    note(job, internalError("the compiler's process ended ", WIFSIGNALED(status) ? "by signal " : "with status ",
                            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)));
    if (shared->next < count)
      start(index);
  }

  SharedRef shared;
  size_t count;
  const std::function<Result<void>(size_t)> &run;
  const std::function<void()> &advance;
  std::vector<Worker> workers;
  std::vector<FailedJob> failed;
};

} // namespace

Result<std::vector<FailedJob>> runInProcesses(size_t count, size_t processes,
                                              const std::function<Result<void>(size_t)> &run,
                                              const std::function<void()> &advance) {
  if (count == 0)
    return std::vector<FailedJob>();
  SharedRef shared = makeShared();
  if (!shared)
    return Error{Status::OutOfMemory, "cannot allocate memory that processes share"};
  return Pool(std::move(shared), count, run, advance).runAll(processes);
}

} // namespace quern
