// Input: blocks of 16 and blocks of 24. Neither size divides the other, but runs of 8 are contiguous in both. Checks
// that vectors are along those runs and that the address of a run is computed from digits, once per row.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx2 | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg. --implicit-check-not=quern.scratch
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: func.func @mean_kernel(%[[SRC:[^:]*]]: memref<{{[0-9]+}}xf32> {quern.arg = "src"}, %[[DST:[^:]*]]: memref<{{[0-9]+}}xf32> {quern.arg = "dst"}
// CHECK-SAME: across_rows =
// CHECK-SAME: space = 6{{[,>]}}
// CHECK-DAG: arith.divui %{{.*}}, %c2
// CHECK-DAG: arith.remui %{{.*}}, %c2
// CHECK: vector.load %[[SRC]]{{.*}} vector<8xf32>
// CHECK-DAG: arith.divui %{{.*}}, %c3
// CHECK-DAG: arith.remui %{{.*}}, %c3
// CHECK: vector.store {{.*}}, %[[DST]]{{.*}} vector<8xf32>

#id = affine_map<(c, w) -> (c, w)>
#by16 = affine_map<(c, w) -> (c floordiv 16, w, c mod 16)>
#by24 = affine_map<(c, w) -> (c floordiv 24, w, c mod 24)>
#perRow = affine_map<(c, w) -> (c)>
func.func @mean(%src: memref<3x7x16xf32> {quern.arg = "src"}, %dst: memref<2x7x24xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %pin = memref.alloc() : memref<48x7xi8>
  %sum = memref.alloc() : memref<48xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<48xf32>)
  linalg.generic {indexing_maps = [#id, #by16, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%pin, %src : memref<48x7xi8>, memref<3x7x16xf32>) outs(%sum : memref<48xf32>) {
  ^bb0(%unread: i8, %x: f32, %s: f32):
    %r = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #by16, #perRow, #by24], iterator_types = ["parallel", "parallel"]}
      ins(%pin, %src, %sum : memref<48x7xi8>, memref<3x7x16xf32>, memref<48xf32>) outs(%dst : memref<2x7x24xf32>) {
  ^bb0(%unread: i8, %x: f32, %s: f32, %out: f32):
    %y = arith.subf %x, %s : f32
    linalg.yield %y : f32
  }
  return
}
