/*===- tvm_ffi.c - A compiled problem as a function of TVM's FFI -----------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * The part of a library built by quern.tvm_ffi that is the same for all: the
 * generated code includes this file and defines functions of type Function.
 *===----------------------------------------------------------------------===*/
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "quern/quern.h"
#include "tvm/ffi/c_api.h"

#define MOST_ARGUMENTS 64

typedef struct {
  const char *name, *line;
  const unsigned char *kernel; /* artifact, as in the caches */
  size_t kernelBytes;
  const int *arguments; /* QUERN_ARG_ indices, in the order of the call */
  int count;
  pthread_mutex_t mutex;
  quern_engine_t engine;
  quern_stream_t stream;
  quern_primitive_desc_t problem;
  quern_primitive_t primitive; /* null until the first call */
} Function;

static int raiseError(const char *kind, const char *name, const char *message) {
  char text[1024];
  (void)snprintf(text, sizeof text, "%s: %s", name, message);
  TVMFFIErrorSetRaisedFromCStr(kind, text);
  return -1;
}

static int raiseStatus(const Function *function, quern_status_t status) {
  const char *kind = status == quern_invalid_arguments ? "ValueError"
                     : status == quern_unimplemented   ? "NotImplementedError"
                                                       : "RuntimeError";
  return raiseError(kind, function->name, quern_get_last_error_message());
}

/* Loads the kernel. If it is for another machine or build of Quern, compiles it again, if there is a compiler. */
static quern_status_t openKernel(Function *function) {
  quern_status_t status = quern_success;
  quern_primitive_t primitive = NULL;
  if (!function->engine)
    status = quern_engine_create(&function->engine, quern_cpu, 0);
  if (!status && !function->stream)
    status = quern_stream_create(&function->stream, function->engine, quern_stream_default_flags);
  if (!status && !function->problem)
    status = quern_primitive_desc_create_from_text(&function->problem, function->engine, function->line);
  if (!status && quern_primitive_create_from_cache_blob(&primitive, function->problem, function->kernelBytes,
                                                        function->kernel) != quern_success)
    status = quern_primitive_create(&primitive, function->problem);
  __atomic_store_n(&function->primitive, primitive, __ATOMIC_RELEASE);
  return status;
}

static const struct {
  uint8_t code, bits;
  quern_data_type_t type;
} types[] = {{kDLFloat, 64, quern_f64},
             {kDLFloat, 32, quern_f32},
             {kDLFloat, 16, quern_f16},
             {kDLBfloat, 16, quern_bf16},
             {kDLInt, 32, quern_s32},
             {kDLInt, 8, quern_s8},
             {kDLUInt, 8, quern_u8},
             {kDLFloat8_e5m2, 8, quern_f8_e5m2},
             {kDLFloat8_e4m3fn, 8, quern_f8_e4m3}};

static quern_data_type_t typeOf(DLDataType type) {
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
    if (type.lanes == 1 && type.code == types[i].code && type.bits == types[i].bits)
      return types[i].type;
  return quern_data_type_undef;
}

/* Creates a memory object with the tensor's layout; the execution rejects it if the kernel has another. */
static quern_status_t bindTensor(const Function *function, const TVMFFIAny *value, quern_memory_t *memory,
                                 const char **why) {
  const DLTensor *tensor = NULL;
  if (value->type_index == kTVMFFIDLTensorPtr)
    tensor = (const DLTensor *)value->v_ptr;
  else if (value->type_index == kTVMFFITensor)
    tensor = (const DLTensor *)((const char *)value->v_obj + sizeof(TVMFFIObject));
  *why = !tensor                                              ? "an argument is not a tensor"
         : tensor->device.device_type != kDLCPU               ? "a tensor is not in the CPU's memory"
         : tensor->ndim < 1 || tensor->ndim > QUERN_MAX_NDIMS ? "a tensor has no dims, or more than 12"
                                                              : NULL;
  if (*why)
    return quern_invalid_arguments;
  quern_memory_desc_t desc = NULL;
  quern_status_t status =
      quern_memory_desc_create_with_strides(&desc, tensor->ndim, tensor->shape, typeOf(tensor->dtype), tensor->strides);
  if (!status)
    status = quern_memory_create(memory, desc, function->engine, (char *)tensor->data + tensor->byte_offset);
  quern_memory_desc_destroy(desc);
  return status;
}

static int call(Function *function, const TVMFFIAny *values, int32_t count) {
  if (count != function->count) {
    char text[64];
    (void)snprintf(text, sizeof text, "takes %d tensors, not %d", function->count, count);
    return raiseError("TypeError", function->name, text);
  }
  if (!__atomic_load_n(&function->primitive, __ATOMIC_ACQUIRE)) {
    pthread_mutex_lock(&function->mutex);
    const quern_status_t status = function->primitive ? quern_success : openKernel(function);
    pthread_mutex_unlock(&function->mutex);
    if (status)
      return raiseStatus(function, status);
  }
  quern_exec_arg_t arguments[MOST_ARGUMENTS];
  const char *why = NULL;
  quern_status_t status = quern_success;
  int bound = 0;
  for (; bound < count && !status; ++bound) {
    arguments[bound].arg = function->arguments[bound];
    arguments[bound].memory = NULL;
    status = bindTensor(function, &values[bound], &arguments[bound].memory, &why);
  }
  if (!status)
    status = quern_primitive_execute(function->primitive, function->stream, count, arguments);
  const int result = why ? raiseError("TypeError", function->name, why) : status ? raiseStatus(function, status) : 0;
  while (bound > 0)
    quern_memory_destroy(arguments[--bound].memory);
  return result;
}
