# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Filled in with the install rules: headers, both libraries, the command, the CMake package and the pkg-config file.
