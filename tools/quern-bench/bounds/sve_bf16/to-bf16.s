// One conversion per f32 vector; the store writes half of each element.
// reads: 8 vectors
	ldr z0, [x0, #0, mul vl]
	ldr z1, [x0, #1, mul vl]
	ldr z2, [x0, #2, mul vl]
	ldr z3, [x0, #3, mul vl]
	ldr z4, [x0, #4, mul vl]
	ldr z5, [x0, #5, mul vl]
	ldr z6, [x0, #6, mul vl]
	ldr z7, [x0, #7, mul vl]
	bfcvt z0.h, p0/m, z0.s
	bfcvt z1.h, p0/m, z1.s
	bfcvt z2.h, p0/m, z2.s
	bfcvt z3.h, p0/m, z3.s
	bfcvt z4.h, p0/m, z4.s
	bfcvt z5.h, p0/m, z5.s
	bfcvt z6.h, p0/m, z6.s
	bfcvt z7.h, p0/m, z7.s
	st1h { z0.s }, p0, [x2, #0, mul vl]
	st1h { z1.s }, p0, [x2, #1, mul vl]
	st1h { z2.s }, p0, [x2, #2, mul vl]
	st1h { z3.s }, p0, [x2, #3, mul vl]
	st1h { z4.s }, p0, [x3, #0, mul vl]
	st1h { z5.s }, p0, [x3, #1, mul vl]
	st1h { z6.s }, p0, [x3, #2, mul vl]
	st1h { z7.s }, p0, [x3, #3, mul vl]
	addvl x0, x0, #8
	addvl x2, x2, #4
	addvl x3, x3, #4
	cmp x0, x1
	b.ne .-110
