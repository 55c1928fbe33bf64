//===- Command.cpp - Functions shared by quern's subcommands --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Command.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

namespace quern {

int exitCodeOf(Status status) {
  switch (status) {
  case Status::Success:
    return exitOk;
  case Status::InvalidArguments:
    return exitUsage;
  case Status::Unimplemented:
    return exitUnimplemented;
  default:
    return exitFailed;
  }
}

int moreSerious(int first, int second) {
  for (int code : {exitFailed, exitWrong, exitUsage, exitUnimplemented})
    if (first == code || second == code)
      return code;
  return exitOk;
}

int reportError(const Error &error) {
  std::cout.flush();
  std::cerr << "quern: error: " << error.message << '\n';
  return exitCodeOf(error.status);
}

void warn(std::string_view message) { std::cerr << "quern: warning: " << message << '\n'; }

Result<void> writeOutput(const std::string &path, std::string_view bytes) {
  if (path == "-") {
    std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
    return std::cout ? Result<void>() : runtimeError("cannot write to standard output");
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? Result<void>() : runtimeError("cannot write '", path, "': ", std::strerror(errno));
}

Result<std::string> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return invalidArguments("cannot open '", path, "': ", std::strerror(errno));
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad())
    return runtimeError("cannot read '", path, "': ", std::strerror(errno));
  return bytes;
}

} // namespace quern
