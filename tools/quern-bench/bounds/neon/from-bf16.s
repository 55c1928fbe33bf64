// One shift for each half of a bf16 vector.
// reads: 4 vectors
	ldp q0, q1, [x0]
	ldp q2, q3, [x0, #32]
	shll v8.4s, v0.4h, #16
	shll2 v9.4s, v0.8h, #16
	shll v10.4s, v1.4h, #16
	shll2 v11.4s, v1.8h, #16
	shll v12.4s, v2.4h, #16
	shll2 v13.4s, v2.8h, #16
	shll v14.4s, v3.4h, #16
	shll2 v15.4s, v3.8h, #16
	stp q8, q9, [x2, #0]
	stp q10, q11, [x2, #32]
	stp q12, q13, [x2, #64]
	stp q14, q15, [x2, #96]
	add x0, x0, #64
	add x2, x2, #128
	cmp x0, x1
	b.ne .-68
