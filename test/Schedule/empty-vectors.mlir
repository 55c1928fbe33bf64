// Checks that a vector without elements accesses the address of another vector. Its own address may be past the buffer,
// where each access would cost an exception that the processor suppresses. Across rows (`mean`), the address of the
// seventh vector of a group is selected by whether it has a lane. In lines (`runs`), a run of 16 beyond the limit is
// skipped by a condition around load and store.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/mean.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=MEAN
// RUN: quern-opt %t/mean.mlir --check --target=avx512_core
// RUN: quern-opt %t/mean.mlir --check --target=avx2
// RUN: quern-opt %t/mean.mlir --check --target=sse42
// RUN: quern-opt %t/runs.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=RUNS
// RUN: quern-opt %t/runs.mlir --check --target=avx512_core
// RUN: quern-opt %t/runs.mlir --check --target=avx2
// MEAN: plan = <rows{{.*}}across_rows = 7, lanes = 16
// MEAN: %[[LEFT:.*]] = arith.subi %c554, %{{.*}} : index
// MEAN-NEXT: %[[ANY:.*]] = arith.cmpi sgt, %[[LEFT]], %c0 : index
// MEAN-NEXT: %[[REACH:.*]] = arith.select %[[ANY]], %c96, %c0 : index
// MEAN: %[[AT:.*]] = arith.addi %{{.*}}, %[[REACH]]
// MEAN: vector.maskedload %{{.*}}[%[[AT]]]
// RUNS: plan = <map, kind = "lines"
// RUNS: %[[SOME:.*]] = arith.cmpi sgt, %{{.*}}, %c0 : index
// RUNS: scf.if %[[SOME]]
// RUNS: vector.maskedload
// RUNS: vector.maskedstore

//--- mean.mlir
#id = affine_map<(w, c) -> (w, c)>
#perRow = affine_map<(w, c) -> (w)>
func.func @mean(%src: memref<650x7xf32, strided<[1, 650]>> {quern.arg = "src"}, %dst: memref<650x7xf32, strided<[1, 650]>> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<650xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<650xf32>)
  linalg.generic {indexing_maps = [#id, #perRow], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<650x7xf32, strided<[1, 650]>>) outs(%sum : memref<650xf32>) {
  ^bb0(%x: f32, %s: f32):
    %r = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #perRow, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src, %sum : memref<650x7xf32, strided<[1, 650]>>, memref<650xf32>) outs(%dst : memref<650x7xf32, strided<[1, 650]>>) {
  ^bb0(%x: f32, %s: f32, %out: f32):
    %y = arith.subf %x, %s : f32
    linalg.yield %y : f32
  }
  return
}

//--- runs.mlir
#from = affine_map<(c, w) -> (c floordiv 32, w, c mod 32)>
#to = affine_map<(c, w) -> (c floordiv 16, w, c mod 16)>
#id = affine_map<(c, w) -> (c, w)>
func.func @runs(%src: memref<3x5x32xf32> {quern.arg = "src"}, %dst: memref<5x5x16xf32> {quern.arg = "dst"}) {
  %pin = memref.alloc() : memref<67x5xi8>
  linalg.generic {indexing_maps = [#id, #from, #to], iterator_types = ["parallel", "parallel"]}
      ins(%pin, %src : memref<67x5xi8>, memref<3x5x32xf32>) outs(%dst : memref<5x5x16xf32>) {
  ^bb0(%unread: i8, %x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
