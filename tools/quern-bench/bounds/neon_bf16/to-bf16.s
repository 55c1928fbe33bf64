// One conversion per f32 vector, into either half of a bf16 vector.
// reads: 8 vectors
	ldp q0, q1, [x0]
	ldp q2, q3, [x0, #32]
	ldp q4, q5, [x0, #64]
	ldp q6, q7, [x0, #96]
	bfcvtn v8.4h, v0.4s
	bfcvtn2 v8.8h, v1.4s
	bfcvtn v9.4h, v2.4s
	bfcvtn2 v9.8h, v3.4s
	bfcvtn v10.4h, v4.4s
	bfcvtn2 v10.8h, v5.4s
	bfcvtn v11.4h, v6.4s
	bfcvtn2 v11.8h, v7.4s
	stp q8, q9, [x2]
	stp q10, q11, [x2, #32]
	add x0, x0, #128
	add x2, x2, #64
	cmp x0, x1
	b.ne .-68
