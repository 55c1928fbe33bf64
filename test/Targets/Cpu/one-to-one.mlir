// What LLVM has under another name keeps its flags, predicates and order; indices are i64; what has more dimensions than
// LLVM's vectors goes through MLIR's own conversion.
// RUN: quern-opt %s --lower --target=avx2 | FileCheck %s --implicit-check-not=arith. --implicit-check-not=unrealized

// CHECK-LABEL: llvm.func @flags
// CHECK: llvm.add %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK: llvm.udiv %{{.*}}, %{{.*}} : i64
// CHECK: llvm.fadd %{{.*}}, %{{.*}} {fastmathFlags = #llvm.fastmath<reassoc>} : vector<8xf32>
// CHECK: llvm.fcmp "olt" %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: llvm.icmp "slt" %{{.*}}, %{{.*}} : i64
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, 8, 1, 9, 2, 10, 3, 11] : vector<8xf32>
func.func @flags(%x: memref<?xf32>, %y: memref<?xf32>, %begin: index, %end: index) attributes {quern.kernel = #quern.kernel<space = 8>} {
  %three = arith.constant 3 : index
  %next = arith.addi %begin, %end overflow<nsw> : index
  %part = arith.divui %next, %three : index
  %a = vector.load %x[%part] : memref<?xf32>, vector<8xf32>
  %b = vector.load %x[%begin] : memref<?xf32>, vector<8xf32>
  %sum = arith.addf %a, %b fastmath<reassoc> : vector<8xf32>
  %less = arith.cmpf olt, %sum, %b : vector<8xf32>
  %kept = arith.select %less, %sum, %a : vector<8xi1>, vector<8xf32>
  %isBefore = arith.cmpi slt, %part, %end : index
  %chosen = arith.select %isBefore, %kept, %b : vector<8xf32>
  %mixed = vector.shuffle %chosen, %b [0, 8, 1, 9, 2, 10, 3, 11] : vector<8xf32>, vector<8xf32>
  vector.store %mixed, %y[%begin] : memref<?xf32>, vector<8xf32>
  return
}

// The sum of two matrices is one of rows.
// CHECK-LABEL: llvm.func @matrix
// CHECK-COUNT-2: llvm.fadd %{{.*}}, %{{.*}} : vector<8xf32>
func.func @matrix(%x: memref<?xf32>, %y: memref<?xf32>, %begin: index, %end: index) attributes {quern.kernel = #quern.kernel<space = 8>} {
  %a = vector.load %x[%begin] : memref<?xf32>, vector<8xf32>
  %b = vector.load %x[%end] : memref<?xf32>, vector<8xf32>
  %none = arith.constant dense<1.0> : vector<2x8xf32>
  %first = vector.insert %a, %none [0] : vector<8xf32> into vector<2x8xf32>
  %both = vector.insert %b, %first [1] : vector<8xf32> into vector<2x8xf32>
  %sum = arith.addf %both, %none : vector<2x8xf32>
  %row = vector.extract %sum[1] : vector<8xf32> from vector<2x8xf32>
  vector.store %row, %y[%begin] : memref<?xf32>, vector<8xf32>
  return
}

// The mask of a store that only code generation would find to be constant is one here: LLVM would otherwise write more
// than the one element.
// CHECK-LABEL: llvm.func @only_lane
// CHECK-NOT: masked
// CHECK: llvm.extractelement
// CHECK: llvm.store %{{.*}} : f32
func.func @only_lane(%x: memref<?xf32>, %y: memref<?xf32>, %begin: index, %end: index) attributes {quern.kernel = #quern.kernel<space = 8>} {
  %lanes = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>
  %two = arith.constant dense<2> : vector<8xi32>
  %mask = arith.cmpi eq, %lanes, %two : vector<8xi32>
  %a = vector.load %x[%begin] : memref<?xf32>, vector<8xf32>
  vector.maskedstore %y[%begin], %mask, %a : memref<?xf32>, vector<8xi1>, vector<8xf32>
  return
}
