//===- PerThread.h - Per-thread objects that outlive thread_local ones ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A thread_local object cannot be used by destructors that run after its own, but the library is called in those:
// destructors of thread_local and static objects, destructors of pthread keys, and atexit() handlers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_PERTHREAD_H
#define QUERN_SUPPORT_PERTHREAD_H

#include <new>
#include <pthread.h>

namespace quern {

/// One object per thread, declared at namespace scope. It is created at first use, destroyed after all thread_local
/// objects of the thread, and created again if it is used even later. The object of the thread that ends the process is
/// not destroyed.
template <typename Object> class PerThread {
public:
  PerThread() noexcept
      : hasKey(pthread_key_create(&key, [](void *object) { delete static_cast<Object *>(object); }) == 0) {}
  PerThread(const PerThread &) = delete;
  PerThread &operator=(const PerThread &) = delete;

  /// Returns this thread's object, which the first call creates; null if memory is exhausted.
  Object *get() noexcept {
    if (!hasKey)
      return nullptr;
    if (void *object = pthread_getspecific(key))
      return static_cast<Object *>(object);
    auto *object = new (std::nothrow) Object;
    if (object && pthread_setspecific(key, object) == 0)
      return object;
    delete object;
    return nullptr;
  }

private:
  pthread_key_t key{};
  bool hasKey;
};

} // namespace quern

#endif // QUERN_SUPPORT_PERTHREAD_H
