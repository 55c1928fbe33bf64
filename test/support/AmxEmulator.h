//===- AmxEmulator.h - AMX on machines without it -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lets a test run AMX kernels: the machine raises SIGILL for each AMX instruction, and the signal handler performs the
// operation of the instruction, bit for bit.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_SUPPORT_AMXEMULATOR_H
#define QUERN_TEST_SUPPORT_AMXEMULATOR_H

#include <cstdint>

namespace quern::test {

/// Emulates AMX until the process ends. AMX instructions that a processor would refuse (shapes that do not match, rows
/// out of range), and other instructions that this processor does not have, still terminate the process.
void emulateAmx();

/// Returns the number of instructions emulated so far, in all threads.
uint64_t emulatedAmxInstructions();

/// Returns true if this thread has released the registers since it last configured them.
bool isAmxReleased();

} // namespace quern::test

#endif // QUERN_TEST_SUPPORT_AMXEMULATOR_H
