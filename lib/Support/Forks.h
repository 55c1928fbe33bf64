//===- Forks.h - What a fork waits for ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A child of a fork has the memory of its parent and only the thread that forked. A lock that another thread held, a
// value that another thread was creating, and a library that another thread was in would never become free there. So
// a fork waits until no other thread is in a *section*, and threads that are about to enter one wait for the fork.
//
// A section is short, or it is one call of the compiler. A thread in a section waits for nothing that another thread
// can only do in a section that it has not entered yet. A thread that waits on a condition has left its sections.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_FORKS_H
#define QUERN_SUPPORT_FORKS_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <type_traits>

namespace quern {

/// A scope that forks of other threads wait for. Sections of one thread may be nested, and the thread itself may fork
/// in one.
class ForkSection {
public:
  ForkSection() noexcept { enter(); }
  ~ForkSection() { leave(); }
  ForkSection(const ForkSection &) = delete;
  ForkSection &operator=(const ForkSection &) = delete;

  static void enter() noexcept;
  static void leave() noexcept;
};

/// A mutex whose holder is in a section, so no other thread holds it in the child of a fork. Conditions with it are
/// std::condition_variable_any.
class ForkMutex {
public:
  void lock() {
    ForkSection::enter();
    mutex.lock();
  }
  void unlock() {
    mutex.unlock();
    ForkSection::leave();
  }

private:
  std::mutex mutex;
};

namespace forks {

/// Makes forks wait for sections from now on. Called once, when the library is loaded: handlers of forks that are
/// registered later run before sections are closed, so these may still wait for threads.
void install() noexcept;

/// Has `handler` called in each child of a fork, where no other thread exists, before fork() returns. It must not
/// enter a section of another library. At most 16 handlers; they are never removed.
void onChild(void (*handler)()) noexcept;

/// The number of forks between this process and the one that loaded the library.
uint64_t generation() noexcept;

} // namespace forks

/// The object that `make` allocates, one for each place of call: created at its first use, in a section, and never
/// destroyed, since other threads may use it while the process ends.
template <typename Make> auto &immortal(const Make &make) {
  using Object = std::remove_pointer_t<decltype(make())>;
  static constinit std::atomic<Object *> ready{nullptr};
  if (Object *object = ready.load(std::memory_order_acquire))
    return *object;
  const ForkSection section;
  static Object *const object = make();
  ready.store(object, std::memory_order_release);
  return *object;
}

} // namespace quern

#endif // QUERN_SUPPORT_FORKS_H
