//===- Specializer.cpp - Compiling kernels in the background --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Core/Specializer.h"

#include "Compilation/Process.h"
#include "Events/Events.h"
#include "Support/Clock.h"
#include "Support/Exceptions.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace quern {
namespace {

constexpr std::chrono::milliseconds interruptTime{20};
/// Delay before the compiler is loaded. Loading blocks other threads that map or first touch memory, so the program's
/// first results come first.
constexpr std::chrono::milliseconds quietTime{5};
constexpr int niceness = 5; // low, but not the lowest: exit and forks may wait for the thread

/// On Linux, changes only the calling thread. Also drops a real-time priority inherited from the creating thread.
void lowerPriority() {
  const sched_param none{};
  (void)pthread_setschedparam(pthread_self(), SCHED_OTHER, &none);
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), niceness);
}

/// Reports that the kernel of a problem is ready, and its origin; if that failed, `error` has the reason.
void reportSpecialized(const std::shared_ptr<const Problem> &problem, quern_origin_t origin, const Error &error,
                       int64_t ns) {
  if (printsAt(2))
    printLine({"specialize", error.status == Status::Success ? nameOfOrigin(origin) : "failed", problem->verified(),
               problem->text(), ns, problem->key().digest.hex()});
  notifyListeners({.kind = quern_event_specialize,
                   .ns = ns,
                   .problem = problem,
                   .origin = origin,
                   .status = error.status,
                   .message = error.message.c_str()});
}

} // namespace

Specializer &Specializer::process() {
  return immortal([] {
    forks::onChild([] { process().forgetInFork(); });
    return new Specializer();
  });
}

void Specializer::forgetInFork() {
  jobs.clear();
  inHand = nullptr;
  thread.forgetInFork();
}

/// Called at the end of the process.
void Specializer::stop() {
  Thread::Lock lock(thread.mutex);
  if (thread.isSelf())
    return; // a listener has called exit()
  thread.isStopping = true;
  while (inHand) {
    wasCutShort = true;
    CompilerProcess::interrupt();
    thread.changed.wait_for(lock, interruptTime);
  }
  jobs.clear();
  thread.end(lock);
}

bool Specializer::isLessWanted(const SpecializeJob &a, const SpecializeJob &b) {
  return std::tie(a.requests, a.lastRequest) < std::tie(b.requests, b.lastRequest);
}

Specializer::Jobs::iterator Specializer::find(const KernelKey &key) {
  return std::find_if(jobs.begin(), jobs.end(), [&](const SpecializeJob &job) { return job.problem->key() == key; });
}

void Specializer::request(const std::shared_ptr<Promotion> &promotion) {
  std::lock_guard lock(thread.mutex);
  if (thread.isStopping)
    return;
  auto job = find(promotion->problem()->key());
  if (job == jobs.end()) {
    job = jobs.insert(jobs.end(), {promotion->problem(), {}});
    if (jobs.size() > maxJobs) // drops the least requested job except the new one
      jobs.erase(std::min_element(jobs.begin(), job, isLessWanted));
  }
  std::erase_if(job->promotions, [](const auto &other) { return other.expired(); });
  job->promotions.push_back(promotion);
  ++job->requests;
  job->lastRequest = ++requests;
  ensureThread();
}

/// Starts the thread. If that fails, primitives keep their present kernels. Requires the mutex.
void Specializer::ensureThread() {
  if (!stopsAtExit) {
    (void)std::atexit([] { process().stop(); });
    stopsAtExit = true;
  }
  if (!thread.ensure([this] { run(); })) // without a thread, primitives keep their present kernels
    jobs.clear();
}

void Specializer::run() {
  lowerPriority();
  const CompilerProcess::Interruptible interruptible;
  {
    Thread::Lock lock(thread.mutex);
    if (!std::exchange(hasBegun, true))
      thread.changed.wait_for(lock, quietTime, [&] { return thread.isStopping; });
  }
  thread.serve([&] { return !jobs.empty(); }, [&](Thread::Lock &lock) { doJob(lock); });
}

/// Runs the most requested job.
void Specializer::doJob(Thread::Lock &lock) {
  Jobs job;
  job.splice(job.end(), jobs, std::max_element(jobs.begin(), jobs.end(), isLessWanted));
  inHand = &job.front().problem->key();
  wasCutShort = false;
  lock.unlock();
  const int64_t start = nowNs();
  const Lookup<AcquiredKernel> made = compile(job.front(), &wasCutShort);
  if (made || !wasCutShort)
    settle(job.front(), made, nowNs() - start);
  lock.lock();
  inHand = nullptr;
  thread.changed.notify_all();
}

Lookup<AcquiredKernel> Specializer::compile(const SpecializeJob &job, const std::atomic<bool> *isCut) {
  try {
    return job.problem->acquireUnshared(isCut);
  } catch (...) {
    return errorOfException();
  }
}

/// Promotes all primitives that wait for the job, or records the failure. `made` is a hit or an error.
void Specializer::settle(const SpecializeJob &job, const Lookup<AcquiredKernel> &made, int64_t ns) {
  for (const std::weak_ptr<Promotion> &waiting : job.promotions)
    if (const std::shared_ptr<Promotion> promotion = waiting.lock()) {
      if (made)
        promotion->promote(made->executable);
      else
        promotion->fail(made.error());
    }
  if (isWanted(EventSpecialize))
    reportSpecialized(job.problem, made ? made->origin : quern_origin_none, made.error(), ns);
}

Result<void> Specializer::wait(const std::shared_ptr<Promotion> &promotion) {
  const KernelKey &key = promotion->problem()->key();
  Thread::Lock lock(thread.mutex);
  thread.changed.wait(lock, [&] { return !inHand || !(*inHand == key); });
  Jobs own;
  if (const auto job = find(key); job != jobs.end())
    own.splice(own.end(), jobs, job);
  lock.unlock();
  if (promotion->promoted())
    return {};
  if (own.empty())
    own.push_back({promotion->problem(), {}});
  own.front().promotions.push_back(promotion);
  const int64_t start = nowNs();
  settle(own.front(), compile(own.front(), nullptr), nowNs() - start);
  return promotion->promoted() ? Result<void>() : promotion->failed();
}

} // namespace quern
