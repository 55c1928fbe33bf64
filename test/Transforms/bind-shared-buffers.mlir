// Checks that memory which kernels share becomes views of one argument after the tensors, each at the byte offset of
// its attribute. A kernel's private shared memory (`quern.shared` without an offset) starts after the last of these
// buffers, at a multiple of a cache line.
// RUN: quern-opt %s --pass-pipeline='builtin.module(quern-bind-shared-buffers)' | FileCheck %s

// CHECK-LABEL: func.func @first_kernel(
// CHECK-SAME: %[[SRC:[a-z0-9_]+]]: memref<30xi8> {quern.arg = "src"}, %[[SHARED:[a-z0-9_]+]]: memref<?xi8> {quern.shared}, %{{.*}}: index)
// CHECK-SAME: shared_bytes = 190{{[,>]}}
// CHECK-DAG: %[[AT0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG: %[[AT128:[a-z0-9_]+]] = arith.constant 128 : index
// CHECK-DAG: %[[A:[a-z0-9_]+]] = memref.view %[[SHARED]][%[[AT0]]][] : memref<?xi8> to memref<30xi8>
// CHECK-DAG: %[[B:[a-z0-9_]+]] = memref.view %[[SHARED]][%[[AT128]]][] : memref<?xi8> to memref<31xi16>
// CHECK: memref.load %[[A]]
// CHECK: memref.store %{{.*}}, %[[B]]
func.func @first_kernel(%src: memref<30xi8> {quern.arg = "src"}, %a: memref<30xi8> {quern.shared = 0 : index}, %b: memref<31xi16> {quern.shared = 128 : index}, %i: index) attributes {quern.kernel = #quern.kernel<space = 1>} {
  %x = memref.load %a[%i] : memref<30xi8>
  %y = arith.extui %x : i8 to i16
  memref.store %y, %b[%i] : memref<31xi16>
  return
}

// The first kernel's 190 bytes end at 192, where the second one's private memory starts.
// CHECK-LABEL: func.func @second_kernel(
// CHECK-SAME: %[[SHARED:[a-z0-9_]+]]: memref<?xi8> {quern.shared}
// CHECK-SAME: shared_bytes = 292{{[,>]}}
// CHECK-DAG: %[[END:[a-z0-9_]+]] = arith.constant 192 : index
// CHECK-DAG: %[[REST:[a-z0-9_]+]] = arith.constant 100 : index
// CHECK-DAG: %[[OWN:[a-z0-9_]+]] = memref.view %[[SHARED]][%[[END]]][%[[REST]]]
// CHECK-DAG: %[[B:[a-z0-9_]+]] = memref.view %[[SHARED]][%{{.*}}][] : memref<?xi8> to memref<31xi16>
// CHECK: memref.load %[[B]]
// CHECK: memref.store %{{.*}}, %[[OWN]]
func.func @second_kernel(%b: memref<31xi16> {quern.shared = 128 : index}, %own: memref<?xi8> {quern.shared}, %i: index) attributes {quern.kernel = #quern.kernel<shared_bytes = 100, space = 1>} {
  %x = memref.load %b[%i] : memref<31xi16>
  %y = arith.trunci %x : i16 to i8
  memref.store %y, %own[%i] : memref<?xi8>
  return
}

// A kernel that shares nothing is unchanged.
// CHECK-LABEL: func.func @alone_kernel(
// CHECK-SAME: %{{.*}}: memref<8xi8> {quern.arg = "dst"}) attributes {quern.kernel = #quern.kernel<space = 1>}
func.func @alone_kernel(%dst: memref<8xi8> {quern.arg = "dst"}) attributes {quern.kernel = #quern.kernel<space = 1>} {
  return
}
