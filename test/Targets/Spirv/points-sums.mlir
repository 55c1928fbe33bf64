// A sum whose order is free carries what its rounding lost, on whichever side of the addition it stands; where it is no longer finite nothing is
// lost. Products are summed as they are, and so is what has an order.
// RUN: quern-opt %s --schedule --target=spirv64 | FileCheck %s
#id = affine_map<(r, c, k) -> (r, c, k)>
#kept = affine_map<(r, c, k) -> (r, c)>
#even = affine_map<(r, c) -> (r * 2, c)>
#all = affine_map<(r, c) -> (r, c)>

// Work-items that follow each other write elements that do: of the destination it is the rows that are contiguous.
// CHECK-LABEL: func.func @left_kernel(
// CHECK-DAG: %[[C8:[a-z0-9_]+]] = arith.constant 8 : index
// CHECK: %[[ROW:[a-z0-9_]+]] = arith.remui %[[POINT:[a-z0-9_]+]], %[[C8]]
// CHECK: %[[COLUMN:[a-z0-9_]+]] = arith.divui %[[POINT]], %[[C8]]
// CHECK: scf.for {{.*}} iter_args(%[[SUM:[a-z0-9_]+]] = %{{.*}}, %[[LOST:[a-z0-9_]+]] = %{{.*}}) -> (f32, f32)
// CHECK: %[[X:[a-z0-9_]+]] = memref.load
// CHECK: %[[WANTED:[a-z0-9_]+]] = arith.subf %[[X]], %[[LOST]]
// CHECK: %[[TOTAL:[a-z0-9_]+]] = arith.addf %[[SUM]], %[[WANTED]]
// CHECK: %[[GROWN:[a-z0-9_]+]] = arith.subf %[[TOTAL]], %[[SUM]]
// CHECK: %[[ERROR:[a-z0-9_]+]] = arith.subf %[[GROWN]], %[[WANTED]]
// CHECK: %[[KNOWN:[a-z0-9_]+]] = arith.cmpf ord, %[[ERROR]], %[[ERROR]]
// CHECK: %[[NEXT:[a-z0-9_]+]] = arith.select %[[KNOWN]], %[[ERROR]]
// CHECK: scf.yield %[[TOTAL]], %[[NEXT]]
// CHECK: %[[FAR:[a-z0-9_]+]] = arith.muli %[[COLUMN]], %[[C8]]
// CHECK: %[[AT:[a-z0-9_]+]] = arith.addi %[[ROW]], %[[FAR]]
// CHECK: memref.store %{{.*}}[%[[AT]]]
func.func @left(%src: memref<4x8x300xf32> {quern.arg = "src"}, %dst: memref<8x8xf32, strided<[1, 8]>> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<4x8xf32>
  %between = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<4x8xf32>)
  linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%src : memref<4x8x300xf32>) outs(%sum : memref<4x8xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %s, %x fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  linalg.fill ins(%zero : f32) outs(%between : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#all, #even], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<4x8xf32>) outs(%between : memref<8x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%between : memref<8x8xf32>) outs(%dst : memref<8x8xf32, strided<[1, 8]>>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  return
}

// CHECK-LABEL: func.func @right_kernel(
// CHECK: scf.for {{.*}} iter_args(%[[SUM:[a-z0-9_]+]] = %{{.*}}, %[[LOST:[a-z0-9_]+]] = %{{.*}}) -> (f32, f32)
// CHECK: %[[X:[a-z0-9_]+]] = memref.load
// CHECK: %[[WANTED:[a-z0-9_]+]] = arith.subf %[[X]], %[[LOST]]
// CHECK: %[[TOTAL:[a-z0-9_]+]] = arith.addf %[[SUM]], %[[WANTED]]
// CHECK: %[[GROWN:[a-z0-9_]+]] = arith.subf %[[TOTAL]], %[[SUM]]
// CHECK: %[[ERROR:[a-z0-9_]+]] = arith.subf %[[GROWN]], %[[WANTED]]
// CHECK: %[[KNOWN:[a-z0-9_]+]] = arith.cmpf ord, %[[ERROR]], %[[ERROR]]
// CHECK: %[[NEXT:[a-z0-9_]+]] = arith.select %[[KNOWN]], %[[ERROR]]
// CHECK: scf.yield %[[TOTAL]], %[[NEXT]]
func.func @right(%src: memref<4x8x300xf32> {quern.arg = "src"}, %dst: memref<8x8xf32, strided<[1, 8]>> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<4x8xf32>
  %between = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<4x8xf32>)
  linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%src : memref<4x8x300xf32>) outs(%sum : memref<4x8xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %x, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  linalg.fill ins(%zero : f32) outs(%between : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#all, #even], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<4x8xf32>) outs(%between : memref<8x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%between : memref<8x8xf32>) outs(%dst : memref<8x8xf32, strided<[1, 8]>>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  return
}

// CHECK-LABEL: func.func @products_kernel(
// CHECK: scf.for {{.*}} iter_args(%[[SUM:[a-z0-9_]+]] = %{{[a-z0-9_]+}}) -> (f32)
// CHECK-NOT: arith.subf
// CHECK: scf.yield
func.func @products(%src: memref<4x8x300xf32> {quern.arg = "src"}, %dst: memref<8x8xf32, strided<[1, 8]>> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<4x8xf32>
  %between = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<4x8xf32>)
  linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%src : memref<4x8x300xf32>) outs(%sum : memref<4x8xf32>) {
  ^bb0(%x: f32, %s: f32):
    %p = arith.mulf %x, %x : f32
    %t = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  linalg.fill ins(%zero : f32) outs(%between : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#all, #even], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<4x8xf32>) outs(%between : memref<8x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%between : memref<8x8xf32>) outs(%dst : memref<8x8xf32, strided<[1, 8]>>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  return
}

// CHECK-LABEL: func.func @ordered_kernel(
// CHECK: scf.for {{.*}} iter_args(%[[SUM:[a-z0-9_]+]] = %{{[a-z0-9_]+}}) -> (f32)
// CHECK-NOT: arith.subf
// CHECK: scf.yield
func.func @ordered(%src: memref<4x8x300xf32> {quern.arg = "src"}, %dst: memref<8x8xf32, strided<[1, 8]>> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<4x8xf32>
  %between = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<4x8xf32>)
  linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%src : memref<4x8x300xf32>) outs(%sum : memref<4x8xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %s, %x : f32
    linalg.yield %t : f32
  }
  linalg.fill ins(%zero : f32) outs(%between : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#all, #even], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<4x8xf32>) outs(%between : memref<8x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%between : memref<8x8xf32>) outs(%dst : memref<8x8xf32, strided<[1, 8]>>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  return
}

// Twice the sum is none.
// CHECK-LABEL: func.func @doubled_kernel(
// CHECK: scf.for {{.*}} iter_args(%[[SUM:[a-z0-9_]+]] = %{{[a-z0-9_]+}}) -> (f32)
// CHECK-NOT: arith.subf
// CHECK: scf.yield
func.func @doubled(%src: memref<4x8x300xf32> {quern.arg = "src"}, %dst: memref<8x8xf32, strided<[1, 8]>> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<4x8xf32>
  %between = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<4x8xf32>)
  linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%src : memref<4x8x300xf32>) outs(%sum : memref<4x8xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %s, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  linalg.fill ins(%zero : f32) outs(%between : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#all, #even], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<4x8xf32>) outs(%between : memref<8x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%between : memref<8x8xf32>) outs(%dst : memref<8x8xf32, strided<[1, 8]>>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  return
}
