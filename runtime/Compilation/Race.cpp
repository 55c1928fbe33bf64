//===- Race.cpp - Compiling beside the caller -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compilation/Race.h"

#include "Compilation/Compiler.h"
#include "Compilation/Process.h"

#include <condition_variable>
#include <mutex>
#include <new>
#include <pthread.h>
#include <thread>
#include <vector>

namespace quern {
namespace {

/// Whether the thread has joined what it began.
thread_local bool hasEnded = false;

/// The threads that one has begun.
struct Begun {
  struct One {
    std::thread thread;
    std::shared_ptr<Race> race;
  };
  std::vector<One> all{};
  Begun() = default;
  Begun(const Begun &) = delete;
  Begun &operator=(const Begun &) = delete;
  ~Begun() {
    hasEnded = true;
    for (One &one : all)
      one.thread.join();
  }
  void joinThoseOver() {
    std::erase_if(all, [](One &one) {
      const bool isOver = one.race->isOver();
      if (isOver)
        one.thread.join();
      return isOver;
    });
  }
};
thread_local Begun begun;

} // namespace

/// All of the process.
class Races {
public:
  static Races &process() {
    static Races *instance = new Races; // never destroyed, as Kernels::process()
    return *instance;
  }
  std::shared_ptr<Race> begin(std::function<Result<Compiled>()> compile);
  bool isOver(const Race &race) {
    std::lock_guard lock(mutex);
    return race.result.has_value();
  }
  Result<Compiled> wait(Race &race) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return race.result.has_value(); });
    return *race.result;
  }

private:
  Races();
  void run(Race &race, bool isHere, const std::function<Result<Compiled>()> &compile);
  void forgetInFork();

  std::mutex mutex; ///< guards what follows, and forks
  std::condition_variable changed;
  size_t here = 0; ///< those at work in this process
};

Races::Races() {
  CompilerProcess::prepareForForks(); // whose handler is to run after this one
  pthread_atfork(
      [] {
        std::unique_lock lock(process().mutex);
        process().changed.wait(lock, [] { return process().here == 0; });
        lock.release();
      },
      [] { process().mutex.unlock(); }, [] { process().forgetInFork(); });
}

/// With the mutex held by the thread that forked, the only one that is here.
void Races::forgetInFork() {
  if (!hasEnded)
    new (&begun) Begun; // threads of the parent
  new (&changed) std::condition_variable;
  mutex.unlock();
}

std::shared_ptr<Race> Races::begin(std::function<Result<Compiled>()> compile) {
  if (hasEnded)
    return nullptr;
  begun.joinThoseOver();
  begun.all.reserve(begun.all.size() + 1);
  const bool isHere = !Compiler::isApart();
  auto race = std::make_shared<Race>();
  {
    std::lock_guard lock(mutex);
    here += isHere ? 1 : 0;
  }
  try {
    begun.all.push_back(
        {std::thread([this, race, isHere, compile = std::move(compile)] { run(*race, isHere, compile); }), race});
    return race;
  } catch (const std::exception &) { // no thread is to be had
    std::lock_guard lock(mutex);
    here -= isHere ? 1 : 0;
    changed.notify_all();
    return nullptr;
  }
}

void Races::run(Race &race, bool isHere, const std::function<Result<Compiled>()> &compile) {
  std::optional<Result<Compiled>> made;
  try {
    made.emplace(compile());
  } catch (const std::bad_alloc &) {
    made.emplace(Error{Status::OutOfMemory, "out of memory while a kernel was compiled"});
  }
  std::lock_guard lock(mutex);
  here -= isHere ? 1 : 0;
  race.result = std::move(made);
  changed.notify_all();
}

std::shared_ptr<Race> Race::begin(std::function<Result<Compiled>()> compile) {
  return Races::process().begin(std::move(compile));
}

bool Race::isOver() const { return Races::process().isOver(*this); }

Result<Compiled> Race::wait() { return Races::process().wait(*this); }

} // namespace quern
