# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The epoch of code generation is part of the build id, by which kernels are found on disks, in packs and on servers.
# Raise it with a fix after which older kernels must not run any more, although nothing else that is hashed has changed:
# a defect of LLVM that is fixed in a library which keeps its version, or by another way of building Quern.
set(QUERN_CODEGEN_EPOCH 1)
