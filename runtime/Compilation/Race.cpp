//===- Race.cpp - Compiling in parallel with the caller -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compilation/Race.h"

#include "Support/Exceptions.h"
#include "Support/Forks.h"

#include <condition_variable>
#include <system_error>
#include <thread>

namespace quern {
namespace {

/// The shared state of all races.
struct Races {
  ForkMutex mutex; ///< guards the results
  std::condition_variable_any changed;

  static Races &process() {
    return immortal([] {
      forks::onChild([] { new (&process().changed) std::condition_variable_any; });
      return new Races;
    });
  }
};

} // namespace

std::shared_ptr<Race> Race::begin(std::function<Result<Compiled>()> compile) {
  auto race = std::make_shared<Race>();
  try {
    std::thread([race, compile = std::move(compile)] { race->run(compile); }).detach();
  } catch (const std::system_error &) { // no thread can be created
    return nullptr;
  }
  return race;
}

void Race::run(const std::function<Result<Compiled>()> &compile) {
  std::optional<Result<Compiled>> made;
  try {
    made.emplace(compile());
  } catch (...) {
    made.emplace(errorOfException());
  }
  Races &races = Races::process();
  std::lock_guard lock(races.mutex);
  result = std::move(made);
  races.changed.notify_all();
}

bool Race::isOver() const {
  std::lock_guard lock(Races::process().mutex);
  return result.has_value();
}

Result<Compiled> Race::wait() {
  Races &races = Races::process();
  std::unique_lock lock(races.mutex);
  races.changed.wait(lock, [&] { return result.has_value(); });
  return *result;
}

} // namespace quern
