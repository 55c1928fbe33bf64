// Checks that scalar code before the chain is emitted once per kernel: a scale is loaded from a rank-0 argument and
// broadcast outside of the loops. One operand is broadcast along one dim, and bf16 is mixed with f32.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: quern-opt %s --check --tolerance=1e-4
// CHECK: func.func @softmax_kernel(%[[SRC:[^:]*]]: memref<401408xbf16> {{.*}}, %[[DST:[^:]*]]: memref<401408xf32> {{.*}}, %[[SCALE:[^:]*]]: memref<f32> {{.*}}, %[[OTHER:[^:]*]]: memref<50176xf32>
// CHECK: %[[LOADED:.*]] = memref.load %[[SCALE]][] : memref<f32>
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[LOADED]] : f32
// CHECK: %[[SPLAT:.*]] = vector.broadcast %[[INVERSE]] : f32 to vector<16xf32>
// CHECK: scf.for %{{.*}} = %arg4 to %arg5 step %c1 {
// CHECK: math.log
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1 {
// CHECK: vector.load %[[OTHER]]
// CHECK: arith.mulf %{{.*}}, %[[SPLAT]]

#full = affine_map<(n, c, h, w) -> (n, c, h, w)>
#perRow = affine_map<(n, c, h, w) -> (n, h, w)>
#other = affine_map<(n, c, h, w) -> (0, c, h, w)>
#row = affine_map<(n, h, w) -> (n, h, w)>
func.func @softmax(%src: memref<8x64x28x28xbf16> {quern.arg = "src"}, %dst: memref<8x64x28x28xf32> {quern.arg = "dst"},
                   %scale: memref<f32> {quern.arg = "scales.dst"}, %other: memref<1x64x28x28xf32> {quern.arg = "post_op.0.src1"}) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %dstScale = memref.load %scale[] : memref<f32>
  %inverseScale = arith.divf %one, %dstScale : f32
  %max = memref.alloc() : memref<8x28x28xf32>
  linalg.fill ins(%lowest : f32) outs(%max : memref<8x28x28xf32>)
  linalg.generic {indexing_maps = [#full, #perRow], iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
      ins(%src : memref<8x64x28x28xbf16>) outs(%max : memref<8x28x28xf32>) {
  ^bb0(%x: bf16, %m: f32):
    %f = arith.extf %x : bf16 to f32
    %r = arith.maxnumf %f, %m : f32
    linalg.yield %r : f32
  }
  %shifted = memref.alloc() : memref<8x64x28x28xf32>
  linalg.generic {indexing_maps = [#full, #perRow, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%src, %max : memref<8x64x28x28xbf16>, memref<8x28x28xf32>) outs(%shifted : memref<8x64x28x28xf32>) {
  ^bb0(%x: bf16, %m: f32, %out: f32):
    %f = arith.extf %x : bf16 to f32
    %d = arith.subf %f, %m : f32
    linalg.yield %d : f32
  }
  %sum = memref.alloc() : memref<8x28x28xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8x28x28xf32>)
  linalg.generic {indexing_maps = [#full, #perRow], iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
      ins(%shifted : memref<8x64x28x28xf32>) outs(%sum : memref<8x28x28xf32>) {
  ^bb0(%d: f32, %s: f32):
    %e = math.exp %d {quern.relax = #quern.relax<nonpositive>} : f32
    %r = arith.addf %e, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  %log = memref.alloc() : memref<8x28x28xf32>
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sum : memref<8x28x28xf32>) outs(%log : memref<8x28x28xf32>) {
  ^bb0(%s: f32, %out: f32):
    %l = math.log %s : f32
    linalg.yield %l : f32
  }
  linalg.generic {indexing_maps = [#full, #perRow, #other, #full], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%shifted, %log, %other : memref<8x64x28x28xf32>, memref<8x28x28xf32>, memref<1x64x28x28xf32>)
      outs(%dst : memref<8x64x28x28xf32>) {
  ^bb0(%d: f32, %l: f32, %b: f32, %out: f32):
    %y = arith.subf %d, %l : f32
    %added = arith.addf %y, %b : f32
    %scaled = arith.mulf %added, %inverseScale : f32
    linalg.yield %scaled : f32
  }
  return
}
