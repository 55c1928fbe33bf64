// Checks the lowering of an outlined function by quern-to-llvm: descriptors are passed unchanged, with a constant that
// describes the call and a pointer that caches the kernel. Strides and offset of a view are part of the type and
// therefore of the problem.
// REQUIRES: mlir-plugin
// RUN: mlir-opt %s --load-pass-plugin=%build/lib/libquern-mlir.so --pass-pipeline='builtin.module(quern-to-llvm)' \
// RUN:   | FileCheck %s
// RUN: mlir-opt %s --load-pass-plugin=%build/lib/libquern-mlir.so \
// RUN:     --pass-pipeline='builtin.module(quern-to-llvm{on-failure=told ahead target=sse42})' \
// RUN:   | FileCheck %s --check-prefix=AHEAD
// RUN: not mlir-opt %s --load-pass-plugin=%build/lib/libquern-mlir.so \
// RUN:     --pass-pipeline='builtin.module(quern-to-llvm{ahead target=i386})' 2>&1 | FileCheck %s --check-prefix=TARGET

// RUN: sed 's/strided<.2./strided<[-2]/g' %s | not mlir-opt --load-pass-plugin=%build/lib/libquern-mlir.so \
// RUN:     --pass-pipeline='builtin.module(quern-to-llvm)' 2>&1 | FileCheck %s --check-prefix=REFUSED

// CHECK:     llvm.func internal @quern_failed(%{{.*}}: i32, %[[TEXT:.*]]: !llvm.ptr)
// CHECK:       llvm.call @puts(%[[TEXT]])
// CHECK:       llvm.call @abort()
// CHECK:     llvm.mlir.global internal constant @f_module("ML\EFR
// CHECK:     llvm.mlir.global internal constant @f_function()
// CHECK:       llvm.mlir.addressof @quern_failed
// CHECK:     llvm.mlir.global internal @f_site() {{.*}} : !llvm.ptr
// CHECK:     func.func private @f(%[[X:.*]]: memref<4xf32, strided<[2], offset: 1>>, %[[Y:.*]]: memref<4xf32>) -> memref<4xf32> {
// CHECK:       builtin.unrealized_conversion_cast %[[X]] : memref<4xf32, strided<[2], offset: 1>> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
// CHECK:       llvm.call @quern_mlir_call
// CHECK-NEXT:  return %[[Y]]
// CHECK:     llvm.func internal @quern_release()
// CHECK:       llvm.call @quern_mlir_release
// CHECK:     llvm.mlir.global_dtors dtors = [@quern_release]
// AHEAD-DAG: llvm.mlir.global internal constant @f_line("mlir code=
// AHEAD-DAG: llvm.mlir.global internal constant @f_kernel("
// AHEAD-DAG: llvm.func @told(i32, !llvm.ptr)
// AHEAD-NOT: @abort
// REFUSED: error: quern-to-llvm: the function is not supported as it is on memrefs: {{.*}}argument 0 is memref<4xf32, strided<[-2], offset: 1>>, which has a negative stride
// TARGET: error: no kernel for i386
func.func private @f(%x: memref<4xf32, strided<[2], offset: 1>>, %y: memref<4xf32>) -> memref<4xf32>
    attributes {quern.outlined} {
  linalg.exp ins(%x : memref<4xf32, strided<[2], offset: 1>>) outs(%y : memref<4xf32>)
  return %y : memref<4xf32>
}
