// Checks the signature after lowering: (args, begin, end). Buffers and scratch are loaded from the argument block in
// order, and the attributes that a replay needs stay on the function.
// RUN: quern-opt %s --lower --target=avx2 | FileCheck %s --implicit-check-not=noalias --implicit-check-not=unrealized
// CHECK: llvm.func @copy_kernel(%[[ARGS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK-SAME: quern.kernel = #quern.kernel<scratch_bytes = 256, space = 8>
// CHECK-SAME: quern.lowered = #quern.lowered<["src" : memref<64xbf16>, "dst" : memref<64xf32>]>
// CHECK: %[[BUFFERS:.*]] = llvm.load %[[ARGS]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[SRC:.*]] = llvm.load %[[BUFFERS]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.getelementptr %[[BUFFERS]][1]
// CHECK: llvm.getelementptr %[[ARGS]][1]
// The condition of the loop over rows is tested once before it, because a range may be empty, and then at the end of
// each iteration.
// CHECK: llvm.icmp "slt" %[[BEGIN]], %[[END]]
// CHECK: llvm.cond_br
// CHECK: llvm.load {{.*}} -> vector<8xi16>
// CHECK: llvm.icmp "slt"
// CHECK: llvm.cond_br
// CHECK-NOT: llvm.icmp
// CHECK: llvm.return
// Shared scratch and runtime sizes have separate entries in the block; a flat buffer may have any length.
// CHECK: llvm.func @scale_kernel(%[[ARGS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK-SAME: factors = [0, 16], {{.*}}shared_bytes = 64{{.*}}#quern.lowered<["src" : memref<?xf32>]>
// CHECK-DAG: llvm.getelementptr %[[ARGS]][2]
// CHECK-DAG: llvm.getelementptr %[[ARGS]][1]
// CHECK-DAG: llvm.getelementptr %[[ARGS]][3]
// CHECK: llvm.return
func.func @copy_kernel(%src: memref<64xbf16> {quern.arg = "src"}, %dst: memref<64xf32> {quern.arg = "dst"},
                       %scratch: memref<?xi8> {quern.scratch}, %begin: index, %end: index)
    attributes {quern.kernel = #quern.kernel<scratch_bytes = 256, space = 8>} {
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %zero = arith.constant 0 : index
  %room = memref.view %scratch[%zero][] : memref<?xi8> to memref<64xf32>
  scf.for %i = %begin to %end step %one {
    %at = arith.muli %i, %eight : index
    %x = vector.load %src[%at] : memref<64xbf16>, vector<8xbf16>
    %y = arith.extf %x : vector<8xbf16> to vector<8xf32>
    vector.store %y, %room[%at] : memref<64xf32>, vector<8xf32>
    vector.store %y, %dst[%at] : memref<64xf32>, vector<8xf32>
  }
  return
}

func.func @scale_kernel(%src: memref<?xf32> {quern.arg = "src"}, %shared: memref<?xi8> {quern.shared}, %scratch: memref<?xi8> {quern.scratch},
                        %sizes: memref<?xindex> {quern.sizes}, %begin: index, %end: index)
    attributes {quern.kernel = #quern.kernel<factors = [0, 16], scratch_bytes = 64, shared_bytes = 64, space = 1>} {
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : index
  %length = memref.load %sizes[%zero] : memref<?xindex>
  scf.for %i = %begin to %end step %one {
    %at = arith.muli %i, %length : index
    %x = memref.load %src[%at] : memref<?xf32>
    %y = arith.truncf %x : f32 to f16
    %bits = arith.bitcast %y : f16 to i16
    %byte = arith.trunci %bits : i16 to i8
    memref.store %byte, %shared[%i] : memref<?xi8>
    memref.store %byte, %scratch[%zero] : memref<?xi8>
  }
  return
}
