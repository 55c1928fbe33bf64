//===- Forks.h - Sections that forks wait for -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// After a fork, the child has the memory of its parent but only the forking thread. A lock that another thread held, a
// value that it was creating, and a library that it was executing would stay unusable. A fork therefore waits until no
// other thread is in a *section*, and threads that are about to enter one wait for the fork.
//
// A section is short, or it is one call of the compiler. A thread in a section must not wait for anything that another
// thread can do only in a section that it has not entered yet. A thread that waits on a condition has left its
// sections.
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

/// A mutex whose holder is in a section, so no other thread holds it in the child of a fork. Its condition variables
/// are std::condition_variable_any.
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

/// Makes forks wait for sections from now on. Called once, when the library is loaded: fork handlers that are
/// registered later run before sections are closed, so they may still wait for threads.
void install() noexcept;

/// Registers `handler` to be called in each child of a fork, where no other thread exists, before fork() returns. It
/// must not enter a section of another library. At most 16 handlers; they are never removed.
void onChild(void (*handler)()) noexcept;

/// Returns the number of forks between this process and the one that loaded the library.
uint64_t generation() noexcept;

} // namespace forks

/// Returns the object that `make` allocates, one per call site. It is created at first use, in a section, and never
/// destroyed, because other threads may use it while the process exits.
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
