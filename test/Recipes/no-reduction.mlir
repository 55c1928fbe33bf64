// One wants to see chains without a reduction as vector stores: a box of padding (12 of 16 lanes, apart by 16) in masked vectors over a loop of its
// own, a contiguous fill as one long dim, and an op that converts.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/box.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=BOX --implicit-check-not=linalg. --implicit-check-not=memref.store
// RUN: quern-opt %t/box.mlir --check --target=avx512_core
// RUN: quern-opt %t/box.mlir --check --target=avx2
// RUN: quern-opt %t/box.mlir --check --target=sse42
// RUN: quern-opt %t/whole.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=WHOLE --implicit-check-not=linalg. --implicit-check-not=memref.store
// RUN: quern-opt %t/whole.mlir --check --target=sse42
// RUN: quern-opt %t/scale.mlir --schedule --target=avx2 | FileCheck %s --check-prefix=SCALE --implicit-check-not=linalg.
// RUN: quern-opt %t/scale.mlir --check --target=avx2
// BOX: scf.for
// BOX: scf.for
// BOX: vector.maskedstore {{.*}} vector<16xf32>
// WHOLE: quern.plan = "rows: 1 ops in 1 sweep, space {{[0-9]+}}, across rows
// WHOLE: vector.store {{.*}} vector<16xbf16>
// SCALE: vector.load {{.*}} vector<8xf32>
// SCALE: vector.store {{.*}} vector<8xbf16>

//--- box.mlir
func.func @box(%dst: memref<32x49x12xf32, strided<[1568, 16, 1], offset: 788>> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%dst : memref<32x49x12xf32, strided<[1568, 16, 1], offset: 788>>)
  return
}

//--- whole.mlir
func.func @whole(%unused: memref<4xf32> {quern.arg = "src"}, %dst: memref<32x50x16xbf16> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : bf16
  linalg.fill ins(%zero : bf16) outs(%dst : memref<32x50x16xbf16>)
  return
}

//--- scale.mlir
#full = affine_map<(a, b) -> (a, b)>
#perColumn = affine_map<(a, b) -> (b)>
func.func @scale(%src: memref<32x100xf32>, %other: memref<100xf32>, %factor: memref<1xf32, strided<[2], offset: 3>>, %dst: memref<32x100xbf16>) {
  %c0 = arith.constant 0 : index
  %f = memref.load %factor[%c0] : memref<1xf32, strided<[2], offset: 3>>
  linalg.generic {indexing_maps = [#full, #perColumn, #full], iterator_types = ["parallel", "parallel"]}
      ins(%src, %other : memref<32x100xf32>, memref<100xf32>) outs(%dst : memref<32x100xbf16>) {
  ^bb0(%x: f32, %o: f32, %out: bf16):
    %p = arith.mulf %x, %f : f32
    %s = arith.addf %p, %o : f32
    %y = arith.truncf %s : f32 to bf16
    linalg.yield %y : bf16
  }
  return
}
