/*===- Clock.c - A wrong real-time clock ----------------------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * A library that is preloaded into a program. The results of time(), gettimeofday() and clock_gettime(CLOCK_REALTIME)
 * are QUERN_TEST_CLOCK seconds in the future. If QUERN_TEST_CLOCK_JUMPS is set, every second result is as far in the
 * past. Other clocks do not change.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static long ahead(void) {
  static atomic_int calls;
  const char *seconds = getenv("QUERN_TEST_CLOCK");
  const long offset = seconds ? atol(seconds) : 0;
  return getenv("QUERN_TEST_CLOCK_JUMPS") && atomic_fetch_add(&calls, 1) % 2 ? -offset : offset;
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *now) {
  const int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_REALTIME)
    now->tv_sec += ahead();
  return result;
}

EXPORTED time_t time(time_t *seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds)
    *seconds = now.tv_sec;
  return now.tv_sec;
}

EXPORTED int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}
