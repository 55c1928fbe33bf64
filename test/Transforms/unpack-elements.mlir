// Checks that each tensor of half bytes becomes the caller's bytes and whole bytes that the problems share. An
// elementwise problem unpacks them first, two elements of a byte to an i16; another packs them afterwards in the same
// way, an odd last element with a zero.
// RUN: split-file %s %t
// RUN: quern-opt %t/transposed.mlir --pass-pipeline='builtin.module(quern-unpack-elements)' | FileCheck %t/transposed.mlir
// RUN: quern-opt %t/inside.mlir --pass-pipeline='builtin.module(quern-unpack-elements)' | FileCheck %t/inside.mlir
// RUN: not quern-opt %t/open.mlir --pass-pipeline='builtin.module(quern-unpack-elements)' 2>&1 | FileCheck %t/open.mlir

//--- transposed.mlir
// CHECK-LABEL: func.func @apart_unpack0(
// CHECK-SAME: %[[SRC:[a-z0-9_]+]]: memref<18xi8> {quern.arg = "src"}, %{{.*}}: memref<18xi8> {quern.arg = "dst"}, %[[PAIRS:[a-z0-9_]+]]: memref<18xi16> {quern.shared = 0 : index}
// CHECK: ins(%[[SRC]] : memref<18xi8>) outs(%[[PAIRS]] : memref<18xi16>)
// CHECK: %[[WIDE:[a-z0-9_]+]] = arith.extui %{{.*}} : i8 to i16
// CHECK: %[[MOVED:[a-z0-9_]+]] = arith.shli %[[WIDE]], %c4
// CHECK: %[[BOTH:[a-z0-9_]+]] = arith.ori %[[WIDE]], %[[MOVED]]
// CHECK: arith.constant 3855
// CHECK: arith.andi %[[BOTH]]
// The problem itself moves bytes.
// CHECK-LABEL: func.func @apart(
// CHECK-SAME: %[[WHOLE:[a-z0-9_]+]]: memref<5x7xi8> {quern.shared = 0 : index}, %[[OTHER:[a-z0-9_]+]]: memref<7x5xi8> {quern.shared = 64 : index}
// CHECK: ins(%[[WHOLE]] : memref<5x7xi8>) outs(%[[OTHER]] : memref<7x5xi8>)
// CHECK: ^bb0(%[[X:[a-z0-9_]+]]: i8, %{{.*}}: i8):
// CHECK-NEXT: linalg.yield %[[X]] : i8
// CHECK-LABEL: func.func @apart_pack1(
// CHECK-SAME: %[[DST:[a-z0-9_]+]]: memref<17xi8> {quern.arg = "dst"}, %[[PAIRS:[a-z0-9_]+]]: memref<17xi16> {quern.shared = 64 : index}
// CHECK: ins(%[[PAIRS]] : memref<17xi16>) outs(%[[DST]] : memref<17xi8>)
// CHECK: %[[LOW:[a-z0-9_]+]] = arith.andi %[[X:[a-z0-9_]+]], %c15
// CHECK: %[[HIGH:[a-z0-9_]+]] = arith.shrui %[[X]], %c4
// CHECK: arith.ori %[[LOW]], %[[HIGH]]
// CHECK-LABEL: func.func @apart_packlast1(
// CHECK-SAME: memref<1xi8, strided<[1], offset: 17>> {quern.arg = "dst"}, %{{.*}}: memref<1xi8, strided<[1], offset: 34>> {quern.shared = 64 : index}
// CHECK: arith.andi %{{.*}}, %c15
#id = affine_map<(r, c) -> (r, c)>
#t = affine_map<(r, c) -> (c, r)>
func.func @apart(%src: memref<5x7xi4> {quern.arg = "src"}, %dst: memref<7x5xi4> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<5x7xi4>) outs(%dst : memref<7x5xi4>) {
  ^bb0(%x: i4, %out: i4):
    linalg.yield %x : i4
  }
  return
}

//--- inside.mlir
// From the third element on: the first byte is neither computed nor written, and a tensor that is only written is not
// unpacked.
// CHECK-NOT: _unpack1
// CHECK-LABEL: func.func @inside(
// CHECK: arith.trunci %{{.*}} : i8 to i4
// CHECK: %[[FLOAT:[a-z0-9_]+]] = arith.bitcast %{{.*}} : i4 to f4E2M1FN
// CHECK: %[[Y:[a-z0-9_]+]] = arith.truncf %{{.*}} : f32 to f4E2M1FN
// CHECK: %[[BITS:[a-z0-9_]+]] = arith.bitcast %[[Y]] : f4E2M1FN to i4
// CHECK: %[[BYTE:[a-z0-9_]+]] = arith.extui %[[BITS]] : i4 to i8
// CHECK: linalg.yield %[[BYTE]] : i8
// CHECK-LABEL: func.func @inside_pack1(
// CHECK-SAME: memref<3xi8, strided<[1], offset: 1>> {quern.arg = "dst"}, %{{.*}}: memref<3xi16, strided<[1], offset: 1>> {quern.shared = 64 : index}
// CHECK-NOT: packlast
#one = affine_map<(i) -> (i)>
func.func @inside(%src: memref<6xf4E2M1FN> {quern.arg = "src"}, %dst: memref<6xf4E2M1FN, strided<[1], offset: 2>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%src : memref<6xf4E2M1FN>) outs(%dst : memref<6xf4E2M1FN, strided<[1], offset: 2>>) {
  ^bb0(%x: f4E2M1FN, %out: f4E2M1FN):
    %f = arith.extf %x : f4E2M1FN to f32
    %n = arith.negf %f : f32
    %y = arith.truncf %n : f32 to f4E2M1FN
    linalg.yield %y : f4E2M1FN
  }
  return
}

//--- open.mlir
// CHECK: error: quern-unpack-elements: argument #0 has elements of half bytes and a size that is not known
#one = affine_map<(i) -> (i)>
func.func @open(%src: memref<?xi4> {quern.arg = "src"}, %dst: memref<?xi8> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%src : memref<?xi4>) outs(%dst : memref<?xi8>) {
  ^bb0(%x: i4, %out: i8):
    %y = arith.extsi %x : i4 to i8
    linalg.yield %y : i8
  }
  return
}
