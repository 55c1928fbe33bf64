// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program for oneDNN that declares the functions it needs itself and does not mention Quern.
#include <stdint.h>
#include <stdio.h>

typedef struct {
  int arg;
  void *memory;
} argument;
int dnnl_engine_create(void **, int, size_t);
int dnnl_stream_create(void **, void *, unsigned);
int dnnl_memory_desc_create_with_tag(void **, int, const int64_t *, int, int);
int dnnl_memory_create(void **, const void *, void *, void *);
int dnnl_softmax_forward_primitive_desc_create(void **, void *, int, int, const void *, const void *, int,
                                               const void *);
int dnnl_primitive_create(void **, const void *);
int dnnl_primitive_execute(const void *, void *, int, const argument *);
const char *dnnl_status2str(int);

int main(void) {
  const int64_t dims[12] = {1, 2};
  float values[2] = {7, 7};
  void *engine, *stream, *desc, *memory, *problem, *softmax;
  int status = dnnl_engine_create(&engine, 1, 0);
  status |= dnnl_stream_create(&stream, engine, 1);
  status |= dnnl_memory_desc_create_with_tag(&desc, 2, dims, 3, 3); // f32, ab
  status |= dnnl_memory_create(&memory, desc, engine, values);
  status |= dnnl_softmax_forward_primitive_desc_create(&problem, engine, 96, 0x30000, desc, desc, 1, NULL);
  status |= dnnl_primitive_create(&softmax, problem);
  const argument arguments[] = {{1, memory}, {17, memory}};
  status |= dnnl_primitive_execute(softmax, stream, 2, arguments);
  printf("%s, %g %g\n", dnnl_status2str(status), values[0], values[1]);
  return 0;
}
