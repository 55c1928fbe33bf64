// Rounding to nearest, with NaN kept: eight operations per f32 vector, of which V1 starts three (two shifts, a
// comparison) at one per cycle; the store writes half of each element.
// reads: 4 vectors
	ldr z0, [x0, #0, mul vl]
	ldr z1, [x0, #1, mul vl]
	ldr z2, [x0, #2, mul vl]
	ldr z3, [x0, #3, mul vl]
	lsr z4.s, z0.s, #16
	lsr z5.s, z1.s, #16
	lsr z6.s, z2.s, #16
	lsr z7.s, z3.s, #16
	and z4.s, z4.s, #0x1
	and z5.s, z5.s, #0x1
	and z6.s, z6.s, #0x1
	and z7.s, z7.s, #0x1
	add z4.s, z4.s, z0.s
	add z5.s, z5.s, z1.s
	add z6.s, z6.s, z2.s
	add z7.s, z7.s, z3.s
	add z4.s, z4.s, z31.s
	add z5.s, z5.s, z31.s
	add z6.s, z6.s, z31.s
	add z7.s, z7.s, z31.s
	fcmuo p1.s, p0/z, z0.s, z0.s
	fcmuo p2.s, p0/z, z1.s, z1.s
	fcmuo p3.s, p0/z, z2.s, z2.s
	fcmuo p4.s, p0/z, z3.s, z3.s
	orr z0.s, z0.s, #0x400000
	orr z1.s, z1.s, #0x400000
	orr z2.s, z2.s, #0x400000
	orr z3.s, z3.s, #0x400000
	sel z4.s, p1, z0.s, z4.s
	sel z5.s, p2, z1.s, z5.s
	sel z6.s, p3, z2.s, z6.s
	sel z7.s, p4, z3.s, z7.s
	lsr z4.s, z4.s, #16
	lsr z5.s, z5.s, #16
	lsr z6.s, z6.s, #16
	lsr z7.s, z7.s, #16
	st1h { z4.s }, p0, [x2, #0, mul vl]
	st1h { z5.s }, p0, [x2, #1, mul vl]
	st1h { z6.s }, p0, [x2, #2, mul vl]
	st1h { z7.s }, p0, [x2, #3, mul vl]
	addvl x0, x0, #4
	addvl x2, x2, #2
	cmp x0, x1
	b.ne .-170
