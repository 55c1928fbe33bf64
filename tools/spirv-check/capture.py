# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles modules with Intel's Level Zero driver without its hardware: builds them, records their launches into
command lists and writes the data that a device would receive to a file. Nothing is executed. This is a separate
program because the driver reads its settings only once:

  capture.py FILE.spv…    prints one line for each module: `ok FILE`, `lacks FILE` (the device lacks f64 or the group
                          size) or `FILE: message of the driver`; the status is 0 if all are accepted
"""

import ctypes
import os
import sys

import module

# The settings of a device without hardware. This release only supports a DG2 without execution units, hence the third.
PRODUCTS = {
    "tgllp": {"ProductFamilyOverride": "tgllp"},
    "dg2": {"ProductFamilyOverride": "dg2", "HardwareInfoOverride": "1x8x16"},
}
SETTINGS = {"NEOReadDebugKeys": "1", "SetCommandStreamReceiver": "1"}

_CONTEXT, _QUEUE, _LIST, _DEVICE_MEMORY, _HOST_MEMORY, _MODULE, _KERNEL = 0xD, 0xE, 0xF, 0x15, 0x16, 0x1B, 0x1D
_EVENT_POOL, _EVENT, _COMPUTE_PROPERTIES = 0x10, 0x11, 0x4
_BUFFER_BYTES = 4096


def _description(kind, *fields):
    members = [("stype", ctypes.c_uint32), ("next", ctypes.c_void_p)]
    members += [(f"field{i}", type(value)) for i, value in enumerate(fields)]
    made = type("Description", (ctypes.Structure,), {"_fields_": members})
    return made(kind, None, *fields)


class Refused(Exception):
    pass


class Driver:
    def __init__(self):
        self.library = ctypes.CDLL("libze_loader.so.1")
        self.call("zeInit", ctypes.c_uint32(0))
        self.driver, self.device, self.context = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        one = ctypes.c_uint32(1)
        self.call("zeDriverGet", ctypes.byref(one), ctypes.byref(self.driver))
        self.call("zeDeviceGet", self.driver, ctypes.byref(one), ctypes.byref(self.device))
        self.make("zeContextCreate", self.driver, _description(_CONTEXT, ctypes.c_uint32(0)), into=self.context)
        self.queue_description = _description(_QUEUE, *(ctypes.c_uint32(v) for v in (0, 0, 0, 2, 0)))
        self.queue, self.pool, self.event = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.make("zeCommandQueueCreate", self.context, self.device, self.queue_description, into=self.queue)
        pool = _description(_EVENT_POOL, ctypes.c_uint32(1 | 4), ctypes.c_uint32(1))  # host visible, with timestamps
        self.call("zeEventPoolCreate", self.context, ctypes.byref(pool), 1, ctypes.byref(self.device),
                  ctypes.byref(self.pool))
        event = _description(_EVENT, *(ctypes.c_uint32(v) for v in (0, 4, 4)))
        self.make("zeEventCreate", self.pool, event, into=self.event)
        properties = (ctypes.c_uint32 * 64)(_COMPUTE_PROPERTIES)  # the largest group follows the header
        self.call("zeDeviceGetComputeProperties", self.device, ctypes.byref(properties))
        self.max_group = properties[4]
        self.buffer = ctypes.c_void_p()
        device_memory = _description(_DEVICE_MEMORY, ctypes.c_uint32(0), ctypes.c_uint32(0))
        host_memory = _description(_HOST_MEMORY, ctypes.c_uint32(0))
        self.call(
            "zeMemAllocShared", self.context, ctypes.byref(device_memory), ctypes.byref(host_memory),
            ctypes.c_size_t(_BUFFER_BYTES), ctypes.c_size_t(64), self.device, ctypes.byref(self.buffer),
        )

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments) & 0xFFFFFFFF
        if result:
            raise Refused(f"{name} gave 0x{result:x}")

    def make(self, name, *arguments, into):
        passed = (ctypes.byref(a) if isinstance(a, ctypes.Structure) else a for a in arguments)
        self.call(name, *passed, ctypes.byref(into))

    def build(self, spirv):
        built, log = ctypes.c_void_p(), ctypes.c_void_p()
        description = _description(
            _MODULE, ctypes.c_uint32(0), ctypes.c_size_t(len(spirv)),
            ctypes.cast(ctypes.c_char_p(spirv), ctypes.c_void_p), ctypes.c_char_p(b""), ctypes.c_void_p(),
        )
        try:
            self.call("zeModuleCreate", self.context, self.device, ctypes.byref(description), ctypes.byref(built),
                      ctypes.byref(log))
        except Refused as refused:
            size = ctypes.c_size_t(0)
            self.call("zeModuleBuildLogGetString", log, ctypes.byref(size), None)
            text = ctypes.create_string_buffer(size.value + 1)
            self.call("zeModuleBuildLogGetString", log, ctypes.byref(size), text)
            raise Refused(f"{refused}: {text.value.decode(errors='replace').strip()}") from None
        return built

    def launch(self, built, kernel):
        handle = ctypes.c_void_p()
        name = _description(_KERNEL, ctypes.c_uint32(0), ctypes.c_char_p(kernel.name.encode()))
        self.make("zeKernelCreate", built, name, into=handle)
        self.call("zeKernelSetGroupSize", handle, *(ctypes.c_uint32(n) for n in kernel.group))
        for i, size in enumerate(kernel.arguments):
            value = ctypes.c_uint64(1) if size else self.buffer
            self.call("zeKernelSetArgumentValue", handle, ctypes.c_uint32(i), ctypes.c_size_t(size or 8),
                      ctypes.byref(value))
        groups = (ctypes.c_uint32 * 3)(2, 1, 1)
        recorded, immediate = ctypes.c_void_p(), ctypes.c_void_p()
        description = _description(_LIST, ctypes.c_uint32(0), ctypes.c_uint32(0))
        self.make("zeCommandListCreate", self.context, self.device, description, into=recorded)
        for _ in range(2):
            self.call("zeCommandListAppendLaunchKernel", recorded, handle, ctypes.byref(groups), None, 0, None)
            self.call("zeCommandListAppendBarrier", recorded, self.event, 0, None)
            self.call("zeCommandListAppendEventReset", recorded, self.event)
        self.call("zeCommandListClose", recorded)
        self.call("zeCommandQueueExecuteCommandLists", self.queue, 1, ctypes.byref(recorded), None)
        self.make("zeCommandListCreateImmediate", self.context, self.device, self.queue_description, into=immediate)
        self.call("zeCommandListAppendLaunchKernel", immediate, handle, ctypes.byref(groups), self.event, 0, None)
        for destroy, what in (("zeCommandListDestroy", recorded), ("zeCommandListDestroy", immediate),
                              ("zeKernelDestroy", handle)):
            self.call(destroy, what)

    def take(self, spirv):
        """Builds a module and records launches of its kernels; returns False if the device lacks a requirement."""
        read = module.read(spirv)
        kernels = read.kernels
        if read.has_f64 or any(k.group and k.group[0] > self.max_group for k in kernels):  # no product here has f64
            return False
        built = self.build(spirv)
        for kernel in kernels:
            self.launch(built, kernel)
        self.call("zeModuleDestroy", built)
        return True


def main():
    driver, failures = Driver(), 0
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            spirv = file.read()
        try:
            print("ok" if driver.take(spirv) else "lacks", path, flush=True)
        except Refused as refused:
            failures += 1
            print(f"{path}: {refused}", flush=True)
    # The driver's threads may still write; the system frees everything.
    os._exit(1 if failures else 0)


if __name__ == "__main__":
    main()
