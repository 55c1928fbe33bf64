; Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Kernels of the tests of the driver and of the runtime, with the signature of compiled kernels: a pointer for each
; buffer, then one for shared scratch if the kernel uses it, then a 64-bit integer for each open size.
target triple = "spirv64v1.3-unknown-unknown"

@partial = internal addrspace(3) global [64 x float] undef

declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func i64 @_Z12get_group_idj(i32)
declare spir_func i64 @_Z12get_local_idj(i32)
declare spir_func float @_Z20sub_group_reduce_addf(float) #1
declare spir_func void @_Z7barrierj(i32) #1

; out[i] = in[i] + 1, in groups of 16.
define spir_kernel void @add_one(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 !reqd_work_group_size !0 {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %from = getelementptr inbounds float, ptr addrspace(1) %in, i64 %i
  %to = getelementptr inbounds float, ptr addrspace(1) %out, i64 %i
  %value = load float, ptr addrspace(1) %from
  %sum = fadd float %value, 1.0
  store float %sum, ptr addrspace(1) %to
  ret void
}

; out[group] = the sum of 64 elements of in, by sub-groups of 16 and work-group memory.
define spir_kernel void @sum_rows(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 !reqd_work_group_size !1 !intel_reqd_sub_group_size !2 {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %group = call spir_func i64 @_Z12get_group_idj(i32 0)
  %local = call spir_func i64 @_Z12get_local_idj(i32 0)
  %from = getelementptr inbounds float, ptr addrspace(1) %in, i64 %i
  %value = load float, ptr addrspace(1) %from
  %part = call spir_func float @_Z20sub_group_reduce_addf(float %value) #1
  %place = getelementptr inbounds [64 x float], ptr addrspace(3) @partial, i64 0, i64 %local
  store float %part, ptr addrspace(3) %place
  call spir_func void @_Z7barrierj(i32 1) #1
  %isFirst = icmp eq i64 %local, 0
  br i1 %isFirst, label %first, label %end
first:
  %s0 = load float, ptr addrspace(3) @partial
  %p1 = getelementptr inbounds [64 x float], ptr addrspace(3) @partial, i64 0, i64 16
  %p2 = getelementptr inbounds [64 x float], ptr addrspace(3) @partial, i64 0, i64 32
  %p3 = getelementptr inbounds [64 x float], ptr addrspace(3) @partial, i64 0, i64 48
  %s1 = load float, ptr addrspace(3) %p1
  %s2 = load float, ptr addrspace(3) %p2
  %s3 = load float, ptr addrspace(3) %p3
  %t0 = fadd float %s0, %s1
  %t1 = fadd float %s2, %s3
  %sum = fadd float %t0, %t1
  %to = getelementptr inbounds float, ptr addrspace(1) %out, i64 %group
  store float %sum, ptr addrspace(1) %to
  br label %end
end:
  ret void
}

; out[i] = in[i] + size through the shared scratch; the first of two sizes is used.
define spir_kernel void @add_size(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(1) %scratch, i64 %size, i64 %other) #0
    !reqd_work_group_size !0 {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %from = getelementptr inbounds float, ptr addrspace(1) %in, i64 %i
  %kept = getelementptr inbounds float, ptr addrspace(1) %scratch, i64 %i
  %to = getelementptr inbounds float, ptr addrspace(1) %out, i64 %i
  %value = load float, ptr addrspace(1) %from
  %number = uitofp i64 %size to float
  %sum = fadd float %value, %number
  store float %sum, ptr addrspace(1) %kept
  %again = load float, ptr addrspace(1) %kept
  store float %again, ptr addrspace(1) %to
  ret void
}

; out[i] = in[i] * factor[0].
define spir_kernel void @scale(ptr addrspace(1) %in, ptr addrspace(1) %factor, ptr addrspace(1) %out) #0 !reqd_work_group_size !0 {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %from = getelementptr inbounds float, ptr addrspace(1) %in, i64 %i
  %to = getelementptr inbounds float, ptr addrspace(1) %out, i64 %i
  %value = load float, ptr addrspace(1) %from
  %by = load float, ptr addrspace(1) %factor
  %product = fmul float %value, %by
  store float %product, ptr addrspace(1) %to
  ret void
}

; out[i] = in[i] + 1; the two sizes are not used.
define spir_kernel void @add_one_open(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %size, i64 %other) #0 !reqd_work_group_size !0 {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %from = getelementptr inbounds float, ptr addrspace(1) %in, i64 %i
  %to = getelementptr inbounds float, ptr addrspace(1) %out, i64 %i
  %value = load float, ptr addrspace(1) %from
  %sum = fadd float %value, 1.0
  store float %sum, ptr addrspace(1) %to
  ret void
}

; An empty kernel, for measuring the cost of a launch.
define spir_kernel void @nothing(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 !reqd_work_group_size !0 {
  ret void
}

attributes #0 = { nounwind }
attributes #1 = { convergent nounwind }

!0 = !{i32 16, i32 1, i32 1}
!1 = !{i32 64, i32 1, i32 1}
!2 = !{i32 16}
