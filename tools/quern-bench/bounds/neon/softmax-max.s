// The running maximum: one operation per vector, and one load for two. N1 starts two of each per cycle, V1 and V2 four
// operations and three loads. Loads and stores are in pairs, here and in all loops, because one kernel serves all
// processors of the level. V2's model counts a pair as more than two: single loads would take up to a fifth less time
// on V2, and a third more on N1.
// reads: 8 vectors
	ldp q0, q1, [x0, #0]
	ldp q2, q3, [x0, #32]
	ldp q4, q5, [x0, #64]
	ldp q6, q7, [x0, #96]
	fmaxnm v16.4s, v16.4s, v0.4s
	fmaxnm v17.4s, v17.4s, v1.4s
	fmaxnm v18.4s, v18.4s, v2.4s
	fmaxnm v19.4s, v19.4s, v3.4s
	fmaxnm v20.4s, v20.4s, v4.4s
	fmaxnm v21.4s, v21.4s, v5.4s
	fmaxnm v22.4s, v22.4s, v6.4s
	fmaxnm v23.4s, v23.4s, v7.4s
	add x0, x0, #128
	cmp x0, x1
	b.ne .-56
