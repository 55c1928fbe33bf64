/*===- main.c - A C program that uses an installed Quern -------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Built with what `pkg-config quern` says: computes a softmax and checks that
 * every row sums to one. It also shows that the public headers are C.
 *===----------------------------------------------------------------------===*/
#include "quern/quern.h"

#include <math.h>
#include <stdio.h>

enum { rows = 7, columns = 33 };

static float src[rows * columns], dst[rows * columns];

static int report(const char *what) {
    fprintf(stderr, "%s: %s\n", what, quern_get_last_error_message());
    return 1;
}

static int compute(quern_engine_t engine, quern_primitive_desc_t desc) {
    const_quern_memory_desc_t srcDesc = quern_primitive_desc_query_md(desc, quern_query_src_md, 0);
    const_quern_memory_desc_t dstDesc = quern_primitive_desc_query_md(desc, quern_query_dst_md, 0);
    quern_stream_t stream = NULL;
    quern_memory_t srcMemory = NULL, dstMemory = NULL;
    quern_primitive_t primitive = NULL;
    int failed = quern_stream_create(&stream, engine, quern_stream_default_flags) != quern_success
            || quern_memory_create(&srcMemory, srcDesc, engine, src) != quern_success
            || quern_memory_create(&dstMemory, dstDesc, engine, dst) != quern_success
            || quern_primitive_create(&primitive, desc) != quern_success;
    quern_exec_arg_t args[] = {{QUERN_ARG_SRC, srcMemory}, {QUERN_ARG_DST, dstMemory}};
    failed = failed || quern_primitive_execute(primitive, stream, 2, args) != quern_success
            || quern_stream_wait(stream) != quern_success;
    if (failed) report("softmax");
    quern_primitive_destroy(primitive);
    quern_memory_destroy(dstMemory);
    quern_memory_destroy(srcMemory);
    quern_stream_destroy(stream);
    return failed;
}

int main(void) {
    quern_engine_t engine = NULL;
    quern_primitive_desc_t desc = NULL;
    for (int i = 0; i < rows * columns; ++i)
        src[i] = (float)(i % 11) - 5.0f;
    if (quern_engine_create(&engine, quern_cpu, 0) != quern_success) return report("engine");
    if (quern_primitive_desc_create_from_text(
                &desc, engine, "softmax fwd_i alg=accurate src=f32:7x33:ab dst=f32:7x33:ab axis=1")
            != quern_success)
        return report("descriptor");
    int failed = compute(engine, desc);
    quern_primitive_desc_destroy(desc);
    quern_engine_destroy(engine);
    for (int row = 0; row < rows; ++row) {
        double sum = 0;
        for (int column = 0; column < columns; ++column)
            sum += dst[row * columns + column];
        failed = failed || fabs(sum - 1) > 1e-5;
    }
    puts(failed ? "wrong" : "every row sums to 1");
    return failed;
}
