# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exception of the package."""

STATUSES = {
    1: "out_of_memory", 2: "invalid_arguments", 3: "unimplemented", 4: "last_impl_reached", 5: "runtime_error",
    6: "not_required", 100: "internal_error",
}


class Error(RuntimeError):
    """A call that Quern rejected, or that failed.

    Its text is the message of the C interface: the invalid value, the requirement and the constraint's number.

    Attributes:
        status: "invalid_arguments" (the call is wrong), "unimplemented" (valid, but not supported), "out_of_memory",
            "runtime_error" (a problem of the machine: a missing library, the disk) or "internal_error".
        code: the status as a number of `quern_status_t`.
    """

    def __init__(self, message, code=2):
        super().__init__(message)
        self.code = code
        self.status = STATUSES.get(code, "unknown")


Error.__module__ = "quern"
