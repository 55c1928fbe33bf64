# Filled in with the install rules: headers, both libraries, the command, the CMake package and the pkg-config file.
