// Checks that a problem that a program calls several times is one kernel. Each call names its buffers and their
// offsets. Buffers are arguments of the execution by name, and a problem may use only some of them.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx2 | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --run --target=avx2 | FileCheck %s --check-prefix=REPLAY
// CHECK: call @half("a", "dst"[32])
// CHECK-NEXT: call @half("b", "dst") independent
// CHECK-NEXT: call @rest("dst") independent
// CHECK: func.func @half_kernel(%{{.*}}: memref<8xf32> {quern.arg = "from"}, %{{.*}}: memref<8xf32> {quern.arg = "to"}
// CHECK: func.func @rest_kernel(%{{.*}}: memref<20xf32> {quern.arg = "dst"}
// REPLAY: a: unchanged
// REPLAY: dst: digest
// REPLAY: b: unchanged

#id = affine_map<(i) -> (i)>
module attributes {quern.program = #quern.program<call @half("a", "dst"[32]) call @half("b", "dst") independent call @rest("dst") independent>} {
func.func @half(%from: memref<8xf32> {quern.arg = "from"}, %to: memref<8xf32> {quern.arg = "to"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%from : memref<8xf32>) outs(%to : memref<8xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
func.func @rest(%dst: memref<4xf32, strided<[1], offset: 16>> {quern.arg = "dst"}) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%dst : memref<4xf32, strided<[1], offset: 16>>)
  return
}
}
