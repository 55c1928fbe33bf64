//===- IdleThread.h - A thread while there is something to do ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What works for a library behind its callers' backs, and how it ends: nothing of the thread is seen by a fork or by
// the end of the process. Whoever owns it has the jobs, and calls what is here from handlers of both.
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

/// There while it has something to do and for a moment after. Its mutex guards all of it, and the owner's jobs.
template <typename Mutex> class BasicIdleThread {
public:
  using Lock = std::unique_lock<Mutex>;
  static constexpr std::chrono::milliseconds idleTime{100};

  Mutex mutex;
  std::condition_variable_any changed;
  int holders = 0; ///< who wait for nothing to be done: no job is begun
  bool isStopping = false;

  // All with the lock.
  bool isRunning() const { return running; }
  /// Whether the caller is the thread: in a listener.
  bool isSelf() const { return thread && thread->get_id() == std::this_thread::get_id(); }

  /// Wakes the thread, or begins one that does `run`, which is to call serve(). False: none is to be had.
  template <typename Run> bool ensure(Run run) {
    changed.notify_all();
    if (running)
      return true;
    if (thread)
      thread->join(); // which has nothing left to do
    thread.reset();
    try {
      thread = std::make_unique<std::thread>(std::move(run));
      running = true;
    } catch (const std::system_error &) {
      running = false;
    }
    return running;
  }

  /// On the thread, without the lock: does jobs until there is none for a while. `work` gets the lock, and may give it
  /// up meanwhile.
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

  /// For good. Gives up the lock, and waits for the job in hand.
  void end(Lock &lock) {
    isStopping = true;
    changed.notify_all();
    const std::unique_ptr<std::thread> last = std::move(thread);
    lock.unlock();
    if (last)
      last->join();
  }

  /// In the child of a fork, where the parent's thread is not.
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
