// Input: a handwritten transposing add of two tensors in different layouts: a(i, j) is row-major, b(i, j) has blocks of
// 16 columns, and the sum is column-major. No primitive emits it. Checks that the recipe for reorders supports it,
// because only the indexing maps matter.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: @add_kernel({{.*}}memref<8000xf32>{{.*}}memref<8000xf32>{{.*}}memref<8000xf32>
// CHECK-SAME: plan = <map
// CHECK: arith.addf {{.*}} vector<16xf32>
#plain = affine_map<(i, j) -> (i, j)>
#blocked = affine_map<(i, j) -> (j floordiv 16, i, j mod 16)>
#transposed = affine_map<(i, j) -> (j, i)>
func.func @add(%a: memref<100x80xf32> {quern.arg = "a"}, %b: memref<5x100x16xf32> {quern.arg = "b"}, %sum: memref<80x100xf32> {quern.arg = "sum"}) {
  linalg.generic {indexing_maps = [#plain, #blocked, #transposed], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<100x80xf32>, memref<5x100x16xf32>) outs(%sum : memref<80x100xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  }
  return
}
