# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The epoch of code generation is part of the build id, which identifies kernels on disks, in packs and on servers.
# Raise it with a fix after which older kernels must not run, if no other hashed input has changed: for example, a
# defect of LLVM that is fixed in a library without a new version, or by other build options of Quern.
set(QUERN_CODEGEN_EPOCH 1)
