//===- Aliases.cpp - quern_ functions under oneDNN's names ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A linker cannot create an alias for a symbol of another library. Instead, each function is a jump through the global
// offset table. It preserves the stack and every register that can hold an argument, so the signature need not be
// repeated here. A test compares the signatures with the headers of oneDNN.
//
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
#define JUMP(NAME) "  endbr64\n  jmp *" NAME "@GOTPCREL(%rip)\n"
#elif defined(__aarch64__) // linkers may change x16 between a call and its function; hint 34 is bti c
#define JUMP(NAME) "  hint #34\n  adrp x16, :got:" NAME "\n  ldr x16, [x16, :got_lo12:" NAME "]\n  br x16\n"
#else
#error "the jump is written for x86-64 and AArch64"
#endif

#define ALIAS(NAME)                                                                                                    \
  asm(".text\n"                                                                                                        \
      ".p2align 4\n"                                                                                                   \
      ".globl dnnl_" #NAME "\n"                                                                                        \
      ".type dnnl_" #NAME ", @function\n"                                                                              \
      "dnnl_" #NAME ":\n" JUMP("quern_" #NAME) ".size dnnl_" #NAME ", .-dnnl_" #NAME "\n");
#include "Dnnl/Exports.def"
