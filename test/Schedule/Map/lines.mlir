// Checks that runs that are contiguous in source and destination are vectors: a box of padding (12 of 16 lanes, stride
// 16) is one masked vector in a loop, a contiguous fill is one run of all dims, and an op can convert with one factor
// for all elements and one for each column.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/box.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=BOX --implicit-check-not=linalg. --implicit-check-not=memref.store
// RUN: quern-opt %t/box.mlir --check --target=avx512_core
// RUN: quern-opt %t/box.mlir --check --target=avx2
// RUN: quern-opt %t/box.mlir --check --target=sse42
// RUN: quern-opt %t/whole.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=WHOLE --implicit-check-not=linalg. --implicit-check-not=memref.store --implicit-check-not=masked
// RUN: quern-opt %t/whole.mlir --check --target=sse42
// RUN: quern-opt %t/scale.mlir --schedule --target=avx2 | FileCheck %s --check-prefix=SCALE --implicit-check-not=linalg.
// RUN: quern-opt %t/scale.mlir --check --target=avx2
// RUN: quern-opt %t/apart.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=APART
// RUN: quern-opt %t/heads.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=HEADS
// RUN: quern-opt %t/fitting.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=ALONE
// RUN: quern-opt %t/halves.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=HALVES
// RUN: quern-opt %t/halves.mlir --check --target=avx512_core
// RUN: quern-opt %t/halves.mlir --check --target=avx2
// RUN: quern-opt %t/short.mlir --schedule --target=avx2 | FileCheck %s --check-prefix=SHORT --implicit-check-not=memref.store
// RUN: quern-opt %t/short.mlir --check --target=avx2
// BOX: plan = <map, kind = "lines", space = 1, run = 12, lanes = 16
// BOX: scf.for %{{.*}} = %c0 to %c32 step %c1 {
// BOX: scf.for %{{.*}} = %c0 to %c49 step %c7 {
// BOX: vector.maskedstore {{.*}} vector<16xf32>
// WHOLE: plan = <map, kind = "lines", space = 1, run = 25600, lanes = 32, unroll = 4
// WHOLE-COUNT-4: vector.store {{.*}} vector<32xbf16>
// SCALE: plan = <map, kind = "lines", space = {{[0-9]+}}, run = 100, lanes = 8
// SCALE: vector.load {{.*}} vector<8xf32>
// SCALE: vector.store {{.*}} vector<8xbf16>
// Large results use non-temporal stores: rows of any alignment from the next boundary on, short runs in the order of
// the source.
// APART: plan = <map, kind = "lines", space = {{[0-9]+}}, run = 3000{{.*}}streams = "from a boundary on">
// APART: vector.maskedstore {{.*}} vector<16xf32>
// APART: vector.store {{.*}}nontemporal = true{{.*}} vector<16xf32>
// HEADS: plan = <map, kind = "lines", space = {{[0-9]+}}, run = 64, {{.*}} | 48 12", streams = "where aligned">
// If the result fits in the cache, only a call for all of it uses non-temporal stores, because several threads are
// faster in the cache.
// ALONE: plan = <map, kind = "lines"{{.*}}streams_alone = "where aligned">
// ALONE: %[[COUNT:.*]] = arith.subi %arg3, %arg2 : index
// ALONE: arith.cmpi eq, %[[COUNT]], %c512 : index
// A step of a narrow type is stored as whole cache lines, starting at the first boundary of a cache line. Up to two
// masked vectors store the elements before it.
// HALVES: plan = <map, kind = "lines"{{.*}}lanes = 16, unroll = 4{{.*}}streams = "from a boundary on">
// HALVES: scf.for %{{.*}} = %arg2 to %arg3 step %c1 {
// HALVES: vector.maskedstore {{.*}} vector<16xbf16>
// HALVES: vector.shuffle {{.*}} vector<16xbf16>, vector<16xbf16>
// HALVES: vector.shuffle {{.*}} vector<16xbf16>, vector<16xbf16>
// HALVES-COUNT-2: vector.store {{.*}}nontemporal = true{{.*}} vector<32xbf16>
// HALVES-NOT: nontemporal
// Runs of 8 narrow elements use a quarter of a register and no masks, which AVX2 does not have.
// SHORT: plan = <map, kind = "lines", space = {{[0-9]+}}, run = 8, lanes = 8
// SHORT: vector.store {{.*}} vector<8xbf16>

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

//--- apart.mlir
func.func @apart(%src: memref<4000x3000xf32, strided<[4096, 1]>>, %dst: memref<4000x3000xf32>) {
  linalg.copy ins(%src : memref<4000x3000xf32, strided<[4096, 1]>>) outs(%dst : memref<4000x3000xf32>)
  return
}

//--- heads.mlir
func.func @heads(%src: memref<64x384x12x64xf32>, %dst: memref<64x12x384x64xf32>) {
  linalg.transpose ins(%src : memref<64x384x12x64xf32>) outs(%dst : memref<64x12x384x64xf32>) permutation = [0, 2, 1, 3]
  return
}

//--- fitting.mlir
func.func @fitting(%src: memref<8x512x12x64xf32>, %dst: memref<8x12x512x64xf32>) {
  linalg.transpose ins(%src : memref<8x512x12x64xf32>) outs(%dst : memref<8x12x512x64xf32>) permutation = [0, 2, 1, 3]
  return
}

//--- halves.mlir
func.func @halves(%src: memref<3000x3000xf32>, %dst: memref<3000x3000xbf16>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<3000x3000xf32>) outs(%dst : memref<3000x3000xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %narrow = arith.truncf %in : f32 to bf16
    linalg.yield %narrow : bf16
  }
  return
}

//--- short.mlir
func.func @short(%src: memref<16x5x8xbf16>, %dst: memref<5x16x8xbf16>) {
  linalg.transpose ins(%src : memref<16x5x8xbf16>) outs(%dst : memref<5x16x8xbf16>) permutation = [1, 0, 2]
  return
}
