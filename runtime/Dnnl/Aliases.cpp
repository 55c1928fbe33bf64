//===- Aliases.cpp - quern_ functions under oneDNN's names ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A linker has no alias for a symbol of another library. What comes nearest is one jump through the table of addresses:
// it keeps every register and the stack, so the signature need not be said again here. A test compares the signatures
// with the genuine headers.
//
//===----------------------------------------------------------------------===//

#ifndef __x86_64__
#error "the jump is written for x86-64"
#endif

#define ALIAS(NAME)                                                                                                    \
  asm(".text\n"                                                                                                        \
      ".p2align 4\n"                                                                                                   \
      ".globl dnnl_" #NAME "\n"                                                                                        \
      ".type dnnl_" #NAME ", @function\n"                                                                              \
      "dnnl_" #NAME ":\n"                                                                                              \
      "  endbr64\n"                                                                                                    \
      "  jmp *quern_" #NAME "@GOTPCREL(%rip)\n"                                                                        \
      ".size dnnl_" #NAME ", .-dnnl_" #NAME "\n");
#include "Dnnl/Exports.def"
