//===- StandardStreams.cpp - Standard streams, with errors for lost output ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "StandardStreams.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <unistd.h>

void quern::openStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) // open() returns the lowest free number: this one
      (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int quern::finishOutput(const char *program, int status, int failureStatus) {
  std::cout.flush();
  errno = 0;
  const bool isFlushed = std::fflush(stdout) == 0;
  const int error = errno;
  if (isFlushed && !std::ferror(stdout) && std::cout)
    return status;
  std::fprintf(stderr, "%s: error: standard output could not be written%s%s\n", program, error ? ": " : "",
               error ? std::strerror(error) : "");
  return status ? status : failureStatus;
}
