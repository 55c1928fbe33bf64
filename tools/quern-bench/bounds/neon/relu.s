// A comparison and a BIC per vector, because NaN and -0 must be kept; otherwise like the copy.
// reads: 8 vectors
	ldp q0, q1, [x0, #0]
	ldp q2, q3, [x0, #32]
	ldp q4, q5, [x0, #64]
	ldp q6, q7, [x0, #96]
	fcmlt v16.4s, v0.4s, #0.0
	bic v0.16b, v0.16b, v16.16b
	fcmlt v17.4s, v1.4s, #0.0
	bic v1.16b, v1.16b, v17.16b
	fcmlt v18.4s, v2.4s, #0.0
	bic v2.16b, v2.16b, v18.16b
	fcmlt v19.4s, v3.4s, #0.0
	bic v3.16b, v3.16b, v19.16b
	fcmlt v20.4s, v4.4s, #0.0
	bic v4.16b, v4.16b, v20.16b
	fcmlt v21.4s, v5.4s, #0.0
	bic v5.16b, v5.16b, v21.16b
	fcmlt v22.4s, v6.4s, #0.0
	bic v6.16b, v6.16b, v22.16b
	fcmlt v23.4s, v7.4s, #0.0
	bic v7.16b, v7.16b, v23.16b
	stp q0, q1, [x2, #0]
	stp q2, q3, [x2, #32]
	stp q4, q5, [x2, #64]
	stp q6, q7, [x2, #96]
	add x0, x0, #128
	add x2, x2, #128
	cmp x0, x1
	b.ne .-108
