// Checks that a masked load stays a separate instruction with its mask if its result is used under the same mask.
// LLVM 22 folds such a load into its user. In @fused_kernel it then unfolds the load without a mask, because the other
// source is used again. In @interleaved_kernel the user reads lanes that are not loaded. The LLVM IR of both functions
// shows the defects in llc.
// REQUIRES: compiler
// RUN: quern-opt %s --codegen --target=avx512_core | FileCheck %s
// RUN: quern-opt %s --codegen --target=avx512_core_amx | FileCheck %s
// CHECK: fused_kernel:
// CHECK: vmovups 192(%rdi), %zmm[[LOADED:[0-9]+]] {%k[[MASK:[1-7]]]} {z}
// CHECK-NEXT: vfmadd{{[0-9]+}}ps %zmm{{[0-9]+}}, %zmm{{[0-9]+}}, %zmm{{[0-9]+}} {%k[[MASK]]} {z}
// CHECK: interleaved_kernel:
// CHECK: vmovups 192(%rdi), %zmm[[OTHER:[0-9]+]] {%k[[MASK:[1-7]]]} {z}
// CHECK-NEXT: vunpcklps %zmm[[OTHER]], {{.*}} {%k[[MASK]]} {z}
// CHECK: merged_kernel:
// CHECK: vmovups 192(%rdi), %zmm[[KEPT:[0-9]+]] {%k[[MASK:[1-7]]]} {z}
// CHECK-NEXT: vsubps %zmm[[KEPT]], {{.*}} {%k[[MASK]]}
module {
llvm.func @fused_kernel(%p: !llvm.ptr, %begin: i64, %end: i64) attributes {quern.kernel = #quern.kernel<space = 1>, quern.lowered = #quern.lowered<[]>} {
  %zero = llvm.mlir.constant(dense<0> : vector<16xi32>) : vector<16xi32>
  %none = llvm.mlir.constant(dense<0.0> : vector<16xf32>) : vector<16xf32>
  %n = llvm.load %p : !llvm.ptr -> vector<16xi32>
  %pa = llvm.getelementptr %p[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %a = llvm.load %pa : !llvm.ptr -> vector<16xf32>
  %pb = llvm.getelementptr %p[128] : (!llvm.ptr) -> !llvm.ptr, i8
  %b = llvm.load %pb : !llvm.ptr -> vector<16xf32>
  %m = llvm.icmp "sgt" %n, %zero : vector<16xi32>
  %pl = llvm.getelementptr %p[192] : (!llvm.ptr) -> !llvm.ptr, i8
  %l = llvm.intr.masked.load %pl, %m, %none {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
  %f = llvm.intr.fma(%l, %a, %b) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %s = llvm.select %m, %f, %none : vector<16xi1>, vector<16xf32>
  %q = llvm.getelementptr %p[256] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %s, %q : vector<16xf32>, !llvm.ptr
  %qa = llvm.getelementptr %p[320] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %a, %qa : vector<16xf32>, !llvm.ptr
  %qb = llvm.getelementptr %p[384] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %b, %qb : vector<16xf32>, !llvm.ptr
  llvm.return
}
llvm.func @interleaved_kernel(%p: !llvm.ptr, %begin: i64, %end: i64) attributes {quern.kernel = #quern.kernel<space = 1>, quern.lowered = #quern.lowered<[]>} {
  %zero = llvm.mlir.constant(dense<0> : vector<16xi32>) : vector<16xi32>
  %none = llvm.mlir.constant(dense<0.0> : vector<16xf32>) : vector<16xf32>
  %n = llvm.load %p : !llvm.ptr -> vector<16xi32>
  %pa = llvm.getelementptr %p[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %a = llvm.load %pa : !llvm.ptr -> vector<16xf32>
  %m = llvm.icmp "sgt" %n, %zero : vector<16xi32>
  %pl = llvm.getelementptr %p[192] : (!llvm.ptr) -> !llvm.ptr, i8
  %l = llvm.intr.masked.load %pl, %m, %none {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
  %f = llvm.shufflevector %a, %l [0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29] : vector<16xf32>
  %s = llvm.select %m, %f, %none : vector<16xi1>, vector<16xf32>
  %q = llvm.getelementptr %p[256] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %s, %q : vector<16xf32>, !llvm.ptr
  llvm.return
}
llvm.func @merged_kernel(%p: !llvm.ptr, %begin: i64, %end: i64) attributes {quern.kernel = #quern.kernel<space = 1>, quern.lowered = #quern.lowered<[]>} {
  %zero = llvm.mlir.constant(dense<0> : vector<16xi32>) : vector<16xi32>
  %none = llvm.mlir.constant(dense<0.0> : vector<16xf32>) : vector<16xf32>
  %n = llvm.load %p : !llvm.ptr -> vector<16xi32>
  %pa = llvm.getelementptr %p[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %a = llvm.load %pa : !llvm.ptr -> vector<16xf32>
  %m = llvm.icmp "sgt" %n, %zero : vector<16xi32>
  %pl = llvm.getelementptr %p[192] : (!llvm.ptr) -> !llvm.ptr, i8
  %l = llvm.intr.masked.load %pl, %m, %none {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
  %f = llvm.fsub %a, %l : vector<16xf32>
  %s = llvm.select %m, %f, %a : vector<16xi1>, vector<16xf32>
  %q = llvm.getelementptr %p[256] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %s, %q : vector<16xf32>, !llvm.ptr
  llvm.return
}
}
