// Checks that ops with a direct LLVM counterpart keep their flags, predicates and order, that indices are i64, and that
// vectors of more dimensions than LLVM supports use MLIR's conversion.
// RUN: quern-opt %s --lower --target=avx2 | FileCheck %s --implicit-check-not=arith. --implicit-check-not=unrealized
// A converted operation is not accessed any more: the result does not change if freed memory is overwritten.
// RUN: env MALLOC_PERTURB_=165 quern-opt %s --lower --target=avx2 -o /dev/null

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

// The sum of two matrices is a sum of their rows.
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

// The mask of this store is constant, but only code generation would find that. It is folded here, because LLVM would
// otherwise write more than the one element.
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

// Buffers without layout become pointers for all operations: parts, a choice between two, numbers, prefetches.
// CHECK-LABEL: llvm.func @buffers
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: i64, %{{.*}}: i64)
// CHECK: %[[PART:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: %[[CHOSEN:.*]] = llvm.select %{{.*}} : i1, !llvm.ptr
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[CHOSEN]][%[[BEGIN]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[AT]][1] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: llvm.load %[[NEXT]] : !llvm.ptr -> f32
// CHECK: "llvm.intr.prefetch"(%[[AT]])
// CHECK: llvm.cond_br
// CHECK: %[[OTHER:.*]] = llvm.getelementptr %[[CHOSEN]][%[[BEGIN]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: %[[LAST:.*]] = llvm.getelementptr %[[OTHER]][2] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: llvm.store %{{.*}}, %[[LAST]] : f32, !llvm.ptr
// CHECK: %[[IN_PART:.*]] = llvm.getelementptr %[[PART]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: llvm.store %{{.*}}, %[[IN_PART]] : f32, !llvm.ptr
// CHECK-NOT: memref.
func.func @buffers(%x: memref<?xf32>, %y: memref<?xf32>, %scratch: memref<?xi8> {quern.scratch}, %begin: index, %end: index)
    attributes {quern.kernel = #quern.kernel<scratch_bytes = 4096, space = 8>} {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %shift = arith.constant 64 : index
  %part = memref.view %scratch[%shift][] : memref<?xi8> to memref<16xf32>
  %isBefore = arith.cmpi slt, %begin, %end : index
  %chosen = arith.select %isBefore, %x, %y : memref<?xf32>
  %at = arith.addi %begin, %one : index
  %a = memref.load %chosen[%at] : memref<?xf32>
  memref.prefetch %chosen[%begin], read, locality<3>, data : memref<?xf32>
  scf.if %isBefore {
    %last = arith.addi %begin, %two : index
    memref.store %a, %chosen[%last] : memref<?xf32>
  }
  memref.store %a, %part[%end] : memref<16xf32>
  return
}

// A buffer that is local to the kernel is allocated by MLIR's conversion.
// CHECK-LABEL: llvm.func @own
// CHECK: llvm.alloca
func.func @own(%x: memref<?xf32>, %begin: index, %end: index) attributes {quern.kernel = #quern.kernel<space = 8>} {
  %own = memref.alloca() {alignment = 64 : i64} : memref<16xf32>
  %a = vector.load %x[%begin] : memref<?xf32>, vector<8xf32>
  vector.store %a, %own[%begin] : memref<16xf32>, vector<8xf32>
  %b = vector.load %own[%end] : memref<16xf32>, vector<8xf32>
  vector.store %b, %x[%end] : memref<?xf32>, vector<8xf32>
  return
}
