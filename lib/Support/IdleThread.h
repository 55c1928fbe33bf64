//===- IdleThread.h - A background thread that exists while there is work -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs background work of a library, and stops it for forks and at process exit, so that neither sees the thread. The
// owner keeps the queue of jobs, and calls the functions below from its fork and exit handlers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_IDLETHREAD_H
#define QUERN_SUPPORT_IDLETHREAD_H

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace quern {

/// A thread that exists while it has work and for `idleTime` afterwards. `mutex` guards this object and the jobs.
template <typename Mutex> class BasicIdleThread {
public:
  using Lock = std::unique_lock<Mutex>;
  static constexpr std::chrono::milliseconds idleTime{100};

  Mutex mutex;
  std::condition_variable_any changed;
  int holders = 0; ///< callers that wait for the thread to be idle; no job is started while there are any
  bool isStopping = false;

  // The functions below require the lock, except for serve().
  bool isRunning() const { return running; }
  /// Returns true if the caller is the thread itself, as in a listener.
  bool isSelf() const { return thread && thread->get_id() == std::this_thread::get_id(); }

  /// Wakes the thread, or starts one that calls `run`, which must call serve(). Returns false if no thread can be
  /// created.
  template <typename Run> bool ensure(Run run) {
    changed.notify_all();
    if (running)
      return true;
    if (thread)
      thread->join(); // it has finished
    thread.reset();
    try {
      thread = std::make_unique<std::thread>(std::move(run));
      running = true;
    } catch (const std::system_error &) {
      running = false;
    }
    return running;
  }

  /// Called on the thread, without the lock: runs jobs until there is none for a while. `work` receives the lock and
  /// may release it temporarily.
  template <typename HasWork, typename Work> void serve(const HasWork &hasWork, const Work &work) {
    Lock lock(mutex);
    const auto isWanted = [&] { return isStopping || (holders == 0 && hasWork()); };
    while (changed.wait_for(lock, idleTime, isWanted) || holders > 0) {
      if (isStopping)
        break;
      if (holders == 0 && hasWork())
        work(lock);
    }
    running = false;
    changed.notify_all();
  }

  /// Stops the thread permanently. Releases the lock and waits for the current job.
  void end(Lock &lock) {
    isStopping = true;
    changed.notify_all();
    const std::unique_ptr<std::thread> last = std::move(thread);
    lock.unlock();
    if (last)
      last->join();
  }

  /// Resets the state in the child of a fork, where the parent's thread does not exist.
  void forgetInFork() {
    new (&thread) std::unique_ptr<std::thread>;
    new (&changed) std::condition_variable_any;
    running = false;
    holders = 0;
  }

private:
  bool running = false;
  std::unique_ptr<std::thread> thread;
};

using IdleThread = BasicIdleThread<std::mutex>;

} // namespace quern

#endif // QUERN_SUPPORT_IDLETHREAD_H
