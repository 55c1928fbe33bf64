//===- LoaderFuzzer.cpp - The ELF loader ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The input is an object file, as an attacker could place it in a cache directory. It is loaded for each machine type:
// loading either returns the address of the entry point or an error with a message. No code is run.
//
//===----------------------------------------------------------------------===//
#include "Elf/Loader.h"

using namespace quern;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string entries[] = {"quern_test_scale"};
  // The copy has exactly the size of the input, so the sanitizer reports reads beyond its end.
  const std::string object(reinterpret_cast<const char *>(data), size);
  for (uint16_t machine : {EM_X86_64, EM_AARCH64}) {
    Result<LoadedObject> loaded = LoadedObject::load(object, entries, machine);
    if (loaded ? loaded->addresses().size() != 1 || !loaded->addresses()[0] : loaded.error().message.empty())
      __builtin_trap();
  }
  return 0;
}
