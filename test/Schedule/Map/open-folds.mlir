// Input: small tiles of open sizes, as blocks of weights have them: 16 rows of 9 columns. Checks that a call computes
// tables of the offsets of rows and columns once; that an axis which continues the columns in the source, or the rows
// in the destination, is moved inside; that the rows of a square are steps of a table from the first of four, and
// columns are stored where the table says; and that a tile that is divided between calls uses single elements. The
// sizes are those of oihw to OIhw16i16o, of the reverse, of rows and columns that no axis continues, of three columns,
// of rows and columns that are both split, and of tiles that exceed the tables.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %s --check --sizes=16,9,16,9,144,16,9,16,16,256
// RUN: quern-opt %s --check --sizes=16,16,9,16,256,16,16,9,9,144
// RUN: quern-opt %s --check --sizes=9,9,16,144,9,9,9,16,144,16
// RUN: quern-opt %s --check --sizes=7,3,16,3,21,7,3,16,16,112
// RUN: quern-opt %s --check --sizes=7,9,25,9,63,7,9,25,25,175 --target=avx2
// RUN: quern-opt %s --check --sizes=300,5,20,5,1500,300,5,20,20,6000
// RUN: quern-opt %s --check --sizes=300,20,5,20,6000,300,20,5,5,1500 --target=sse42
// CHECK: %[[SCRATCH:[a-z0-9]+]]: memref<?xi8> {quern.scratch}
// CHECK-SAME: loops = "0 2 by 128 1 by 64"
// CHECK: %[[STEPS:.*]] = memref.view %[[SCRATCH]][%{{.*}}][] : memref<?xi8> to memref<4xindex>
// CHECK: %[[ROWS:.*]] = memref.view %[[SCRATCH]][%{{.*}}][] : memref<?xi8> to memref<256xindex>
// CHECK: %[[COLUMNS:.*]] = memref.view %[[SCRATCH]][%{{.*}}][] : memref<?xi8> to memref<256xindex>
// CHECK: memref.store %{{.*}}, %[[STEPS]]
// CHECK: memref.store %{{.*}}, %[[ROWS]]
// CHECK: memref.store %{{.*}}, %[[COLUMNS]]
// CHECK: memref.load %[[ROWS]]
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: vector.shuffle
// CHECK: memref.load %[[COLUMNS]]
// CHECK: vector.store {{.*}} vector<16xf32>
// CHECK: memref.load %[[STEPS]]
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: memref.load %[[COLUMNS]]
// CHECK: vector.store {{.*}} vector<16xf32>
// CHECK: memref.store {{.*}} : memref<?xf32>
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @fold(%src: memref<?x?x?xf32, strided<[?, 1, ?]>> {quern.arg = "src"}, %dst: memref<?x?x?xf32, strided<[?, ?, 1]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%src : memref<?x?x?xf32, strided<[?, 1, ?]>>) outs(%dst : memref<?x?x?xf32, strided<[?, ?, 1]>>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
