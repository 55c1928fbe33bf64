//===- Child.cpp - A process with a line protocol -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// posix_spawn keeps the start cheap, because the time from start to first result is measured. The child inherits the
// affinity, which is therefore set around the spawn.
//
//===----------------------------------------------------------------------===//
#include "Child.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace quern::bench {

namespace {

std::runtime_error failure(const std::string &what, int error) {
  return std::runtime_error(what + ": " + std::strerror(error));
}

std::vector<std::string> mergedEnvironment(const std::map<std::string, std::string> &added) {
  std::vector<std::string> merged;
  for (char **entry = environ; *entry; ++entry) {
    std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('='))))
      merged.push_back(text);
  }
  for (const auto &[name, value] : added)
    merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char *> pointersTo(std::vector<std::string> &strings) {
  std::vector<char *> pointers;
  for (std::string &text : strings)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

} // namespace

Affinity::Affinity(const std::vector<int> &cpus) {
  sched_getaffinity(0, sizeof(saved), &saved);
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (int cpu : cpus)
    CPU_SET(cpu, &wanted);
  if (sched_setaffinity(0, sizeof(wanted), &wanted) != 0)
    throw failure("cannot pin to the given CPUs", errno);
}

Affinity::~Affinity() { sched_setaffinity(0, sizeof(saved), &saved); }

Child::Child(const std::vector<std::string> &command, const std::vector<int> &cpus,
             const std::map<std::string, std::string> &environment) {
  int toChild[2], fromChild[2];
  if (pipe2(toChild, O_CLOEXEC) != 0 || pipe2(fromChild, O_CLOEXEC) != 0)
    throw failure("pipe", errno);
  std::signal(SIGPIPE, SIG_IGN);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, toChild[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fromChild[1], STDOUT_FILENO);
  std::vector<std::string> arguments = command, variables = mergedEnvironment(environment);
  int error;
  {
    Affinity pinned(cpus);
    error = posix_spawnp(&process, command[0].c_str(), &actions, nullptr, pointersTo(arguments).data(),
                         pointersTo(variables).data());
  }
  posix_spawn_file_actions_destroy(&actions);
  close(toChild[0]);
  close(fromChild[1]);
  input = toChild[1];
  output = fromChild[0];
  if (error != 0) {
    process = -1;
    close(input);
    close(output);
    throw failure(command[0], error);
  }
}

Child::~Child() {
  close(input);
  close(output);
  if (process < 0)
    return;
  resume();
  // The end of its input terminates the child; after one second it is killed.
  for (int tries = 0; tries < 1000; ++tries) {
    if (waitpid(process, nullptr, WNOHANG) != 0)
      return;
    usleep(1000);
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

void Child::suspend() { kill(process, SIGSTOP); }

void Child::resume() { kill(process, SIGCONT); }

std::string Child::readLine() {
  for (size_t end; (end = pending.find('\n')) == std::string::npos;) {
    char bytes[4096];
    ssize_t count = read(output, bytes, sizeof(bytes));
    if (count <= 0)
      throw std::runtime_error("the process ended without an answer");
    pending.append(bytes, static_cast<size_t>(count));
  }
  size_t end = pending.find('\n');
  std::string line = pending.substr(0, end);
  pending.erase(0, end + 1);
  return line;
}

std::string Child::ask(const std::string &request) {
  std::string line = request + "\n";
  for (size_t sent = 0; sent < line.size();) {
    ssize_t count = write(input, line.data() + sent, line.size() - sent);
    if (count <= 0)
      throw std::runtime_error("the process ended");
    sent += static_cast<size_t>(count);
  }
  return readLine();
}

std::vector<int> availableCpus() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set))
      cpus.push_back(cpu);
  return cpus;
}

} // namespace quern::bench
