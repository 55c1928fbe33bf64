/*===- HeaderTest.c - The C headers in a C program ------------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Compiled as C11 with all warnings; called by CHeaderTest.cpp. The values are
 * those of oneDNN's headers, which ports rely on.
 *===----------------------------------------------------------------------===*/
#include "quern/quern.h"
#include "quern/quern_threadpool.h"
#include "quern/quern_ze.h"

_Static_assert(quern_last_impl_reached == 4 && quern_not_required == 6, "statuses");
_Static_assert(quern_rnn == 11 && quern_gemm == 12 && quern_softmax == 19, "primitives");
_Static_assert(quern_f32 == 3 && quern_bf16 == 2 && quern_f4_e3m0 == 15, "data types");
_Static_assert(quern_eltwise_hardswish == 0x34 && quern_eltwise_clip_v2_use_dst_for_bwd == 0x106, "eltwise algorithms");
_Static_assert(quern_binary_select == 0x1fffc && quern_softmax_accurate_inf_as_zero == 0x30002, "other algorithms");
_Static_assert(QUERN_ARG_DST == 17 && QUERN_ARG_SCRATCHPAD == 80 && QUERN_ARG_DIFF_DST == 145, "arguments");
_Static_assert(QUERN_ARG_ATTR_MULTIPLE_POST_OP(1) == 65536, "post-op arguments");
_Static_assert(quern_query_exec_arg_md == 255 && quern_query_inner_idxs == 265 && quern_query_axis_s32 == 23,
               "queries");
_Static_assert(quern_cpu_isa_avx512_core_fp16 == 0x1ef && quern_fpmath_mode_tf32 == 4, "modes");

/* The status of the first call that fails. */
quern_status_t quern_test_from_c(float *src, float *dst);
quern_status_t quern_test_from_c(float *src, float *dst) {
  quern_engine_t engine = NULL;
  quern_stream_t stream = NULL;
  quern_memory_desc_t desc = NULL;
  quern_memory_t memories[2] = {NULL, NULL};
  quern_primitive_desc_t problem = NULL;
  quern_primitive_t primitive = NULL;
  ze_context_handle_t context = NULL;
  const quern_dims_t dims = {4, 16};
  quern_exec_arg_t args[2];
  quern_status_t status = quern_engine_create(&engine, quern_cpu, 0);
  if (!status && quern_ze_interop_engine_get_context(engine, &context) != quern_invalid_arguments)
    status = quern_runtime_error; /* it has none */
  if (!status)
    status = quern_stream_create(&stream, engine, quern_stream_default_flags);
  if (!status)
    status = quern_memory_desc_create_with_string_tag(&desc, 2, dims, quern_f32, "ab");
  if (!status)
    status = quern_memory_create(&memories[0], desc, engine, src);
  if (!status)
    status = quern_memory_create(&memories[1], desc, engine, dst);
  if (!status)
    status = quern_softmax_forward_primitive_desc_create(&problem, engine, quern_forward_inference,
                                                         quern_softmax_accurate, desc, desc, 1, NULL);
  if (!status)
    status = quern_primitive_create(&primitive, problem);
  args[0].arg = QUERN_ARG_SRC;
  args[0].memory = memories[0];
  args[1].arg = QUERN_ARG_DST;
  args[1].memory = memories[1];
  if (!status)
    status = quern_primitive_execute(primitive, stream, 2, args);
  quern_primitive_destroy(primitive);
  quern_primitive_desc_destroy(problem);
  quern_memory_destroy(memories[0]);
  quern_memory_destroy(memories[1]);
  quern_memory_desc_destroy(desc);
  quern_stream_destroy(stream);
  quern_engine_destroy(engine);
  return status;
}
