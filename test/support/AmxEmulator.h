//===- AmxEmulator.h - AMX on machines that have none ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lets a test run kernels that were made for AMX: the machine refuses each of its instructions, and the handler of that
// signal does what the instruction would have done, bit for bit.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_SUPPORT_AMXEMULATOR_H
#define QUERN_TEST_SUPPORT_AMXEMULATOR_H

#include <cstdint>

namespace quern::test {

/// From now on, until the process ends. An instruction of AMX that the processor would refuse (shapes that do not fit,
/// rows out of range), and any other that this one does not have, still ends the process.
void emulateAmx();

/// Instructions emulated so far, of all threads.
uint64_t emulatedAmxInstructions();

/// Whether this thread has released the registers since it last configured them.
bool isAmxReleased();

} // namespace quern::test

#endif // QUERN_TEST_SUPPORT_AMXEMULATOR_H
