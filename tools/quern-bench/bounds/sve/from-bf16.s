// A widening load, a shift and a store per f32 vector.
// reads: 2 vectors
	ld1h { z0.s }, p0/z, [x0, #0, mul vl]
	ld1h { z1.s }, p0/z, [x0, #1, mul vl]
	ld1h { z2.s }, p0/z, [x0, #2, mul vl]
	ld1h { z3.s }, p0/z, [x0, #3, mul vl]
	lsl z0.s, z0.s, #16
	lsl z1.s, z1.s, #16
	lsl z2.s, z2.s, #16
	lsl z3.s, z3.s, #16
	str z0, [x2, #0, mul vl]
	str z1, [x2, #1, mul vl]
	str z2, [x2, #2, mul vl]
	str z3, [x2, #3, mul vl]
	addvl x0, x0, #2
	addvl x2, x2, #4
	cmp x0, x1
	b.ne .-64
