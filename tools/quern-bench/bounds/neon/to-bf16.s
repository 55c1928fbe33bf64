// Rounding to nearest, with NaN kept: seven operations per f32 vector, and one (uzp2) for the upper halves of two
// vectors. N1 starts one shift per cycle.
// reads: 4 vectors
	ldp q0, q1, [x0]
	ldp q2, q3, [x0, #32]
	ushr v4.4s, v0.4s, #16
	ushr v5.4s, v1.4s, #16
	ushr v6.4s, v2.4s, #16
	ushr v7.4s, v3.4s, #16
	and v4.16b, v4.16b, v30.16b
	and v5.16b, v5.16b, v30.16b
	and v6.16b, v6.16b, v30.16b
	and v7.16b, v7.16b, v30.16b
	add v4.4s, v4.4s, v0.4s
	add v5.4s, v5.4s, v1.4s
	add v6.4s, v6.4s, v2.4s
	add v7.4s, v7.4s, v3.4s
	add v4.4s, v4.4s, v31.4s
	add v5.4s, v5.4s, v31.4s
	add v6.4s, v6.4s, v31.4s
	add v7.4s, v7.4s, v31.4s
	fcmeq v8.4s, v0.4s, v0.4s
	fcmeq v9.4s, v1.4s, v1.4s
	fcmeq v10.4s, v2.4s, v2.4s
	fcmeq v11.4s, v3.4s, v3.4s
	orr v0.4s, #64, lsl #16
	orr v1.4s, #64, lsl #16
	orr v2.4s, #64, lsl #16
	orr v3.4s, #64, lsl #16
	bif v4.16b, v0.16b, v8.16b
	bif v5.16b, v1.16b, v9.16b
	bif v6.16b, v2.16b, v10.16b
	bif v7.16b, v3.16b, v11.16b
	uzp2 v4.8h, v4.8h, v5.8h
	uzp2 v6.8h, v6.8h, v7.8h
	stp q4, q6, [x2]
	add x0, x0, #64
	add x2, x2, #32
	cmp x0, x1
	b.ne .-160
