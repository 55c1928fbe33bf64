// The larger of each element and the one before it: one operation a vector, and a load for two. N1 begins two of
// either in a cycle, V1 and V2 four operations and three loads. Loads and stores are in pairs, here and in all loops,
// since one kernel serves all processors of the level: V2 by its model counts a pair as more than two, and would take
// up to a fifth less time with single ones, N1 a third more.
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
