// A comparison and a select per vector; otherwise like the copy. V1 starts one comparison per cycle.
// reads: 8 vectors
	ldr z0, [x0, #0, mul vl]
	ldr z1, [x0, #1, mul vl]
	ldr z2, [x0, #2, mul vl]
	ldr z3, [x0, #3, mul vl]
	ldr z4, [x0, #4, mul vl]
	ldr z5, [x0, #5, mul vl]
	ldr z6, [x0, #6, mul vl]
	ldr z7, [x0, #7, mul vl]
	fcmlt p1.s, p0/z, z0.s, #0.0
	sel z0.s, p1, z31.s, z0.s
	fcmlt p2.s, p0/z, z1.s, #0.0
	sel z1.s, p2, z31.s, z1.s
	fcmlt p3.s, p0/z, z2.s, #0.0
	sel z2.s, p3, z31.s, z2.s
	fcmlt p4.s, p0/z, z3.s, #0.0
	sel z3.s, p4, z31.s, z3.s
	fcmlt p5.s, p0/z, z4.s, #0.0
	sel z4.s, p5, z31.s, z4.s
	fcmlt p6.s, p0/z, z5.s, #0.0
	sel z5.s, p6, z31.s, z5.s
	fcmlt p7.s, p0/z, z6.s, #0.0
	sel z6.s, p7, z31.s, z6.s
	fcmlt p1.s, p0/z, z7.s, #0.0
	sel z7.s, p1, z31.s, z7.s
	str z0, [x2, #0, mul vl]
	str z1, [x2, #1, mul vl]
	str z2, [x2, #2, mul vl]
	str z3, [x2, #3, mul vl]
	str z4, [x2, #4, mul vl]
	str z5, [x2, #5, mul vl]
	str z6, [x2, #6, mul vl]
	str z7, [x2, #7, mul vl]
	addvl x0, x0, #8
	addvl x2, x2, #8
	cmp x0, x1
	b.ne .-80
