// Checks sums of integers along the row that are written into a part of the buffer that they read, and reads of a
// constant table.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %s --check --target=avx512_core --tolerance=1e-30
// RUN: quern-opt %s --check --target=avx2 --tolerance=1e-30
// RUN: quern-opt %s --check --target=sse42 --tolerance=1e-30
// CHECK: memref.global "private" constant @factors : memref<5xi32>
// CHECK: func.func @sums_kernel(%[[BYTES:[^:]*]]: memref<228xi8>
// CHECK-DAG: %[[FACTORS:.*]] = memref.get_global @factors
// CHECK-DAG: %[[WORDS:.*]] = memref.view %[[BYTES]][%{{.*}}][] : memref<228xi8> to memref<5xi32>
// CHECK: vector.reduction <add>, %{{.*}} : vector<16xi32> into i32
// CHECK: memref.load %[[FACTORS]]
// CHECK: memref.store %{{.*}}, %[[WORDS]]

// Rows of 7 share vectors: their sums count no element twice.
// CHECK: func.func @short_kernel(
// CHECK: vector.shuffle

memref.global "private" constant @factors : memref<5xi32> = dense<[1, -2, 3, -4, 5]>
func.func @sums(%bytes: memref<228xi8> {quern.arg = "bytes"}) {
  %zero = arith.constant 0 : i32
  %start = arith.constant 0 : index
  %behind = arith.constant 208 : index
  %factors = memref.get_global @factors : memref<5xi32>
  %sum = memref.alloc() : memref<5xi32>
  linalg.fill ins(%zero : i32) outs(%sum : memref<5xi32>)
  %elements = memref.view %bytes[%start][] : memref<228xi8> to memref<205xi8>
  %columns = memref.alloc() : memref<41xi8>
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r * 41 + c)>, affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%elements, %columns : memref<205xi8>, memref<41xi8>) outs(%sum : memref<5xi32>) {
  ^bb0(%x: i8, %unread: i8, %s: i32):
    %w = arith.extsi %x : i8 to i32
    %r = arith.addi %w, %s : i32
    linalg.yield %r : i32
  }
  %words = memref.view %bytes[%behind][] : memref<228xi8> to memref<5xi32>
  linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>, affine_map<(r) -> (r)>], iterator_types = ["parallel"]}
      ins(%sum, %factors : memref<5xi32>, memref<5xi32>) outs(%words : memref<5xi32>) {
  ^bb0(%s: i32, %f: i32, %old: i32):
    %r = arith.muli %s, %f : i32
    linalg.yield %r : i32
  }
  return
}

func.func @short(%bytes: memref<228xi8> {quern.arg = "bytes"}) {
  %zero = arith.constant 0 : i32
  %start = arith.constant 0 : index
  %behind = arith.constant 140 : index
  %sum = memref.alloc() : memref<20xi32>
  linalg.fill ins(%zero : i32) outs(%sum : memref<20xi32>)
  %elements = memref.view %bytes[%start][] : memref<228xi8> to memref<140xi8>
  %shape = memref.alloc() : memref<20x7xi8>
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r * 7 + c)>, affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%elements, %shape : memref<140xi8>, memref<20x7xi8>) outs(%sum : memref<20xi32>) {
  ^bb0(%x: i8, %unread: i8, %s: i32):
    %w = arith.extsi %x : i8 to i32
    %r = arith.addi %w, %s : i32
    linalg.yield %r : i32
  }
  %words = memref.view %bytes[%behind][] : memref<228xi8> to memref<20xi32>
  linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>], iterator_types = ["parallel"]}
      ins(%sum : memref<20xi32>) outs(%words : memref<20xi32>) {
  ^bb0(%s: i32, %old: i32):
    linalg.yield %s : i32
  }
  return
}
