// A row of f32 whose elements multiply four vectors of each of eight panels. Nothing is used twice, so each product
// loads its vector: an ld1 of four vectors uses five slots of a core, and its address another one.
// multiplies: 256 flops in 128 bits
	add x2, x3, x1, lsl #4
	ld1 {v20.4s, v21.4s, v22.4s, v23.4s}, [x2]
	fmla v0.4s, v20.4s, v31.s[0]
	fmla v0.4s, v21.4s, v31.s[1]
	fmla v0.4s, v22.4s, v31.s[2]
	fmla v0.4s, v23.4s, v31.s[3]
	add x2, x4, x1, lsl #4
	ld1 {v20.4s, v21.4s, v22.4s, v23.4s}, [x2]
	fmla v1.4s, v20.4s, v31.s[0]
	fmla v1.4s, v21.4s, v31.s[1]
	fmla v1.4s, v22.4s, v31.s[2]
	fmla v1.4s, v23.4s, v31.s[3]
	add x2, x5, x1, lsl #4
	ld1 {v20.4s, v21.4s, v22.4s, v23.4s}, [x2]
	fmla v2.4s, v20.4s, v31.s[0]
	fmla v2.4s, v21.4s, v31.s[1]
	fmla v2.4s, v22.4s, v31.s[2]
	fmla v2.4s, v23.4s, v31.s[3]
	add x2, x6, x1, lsl #4
	ld1 {v20.4s, v21.4s, v22.4s, v23.4s}, [x2]
	fmla v3.4s, v20.4s, v31.s[0]
	fmla v3.4s, v21.4s, v31.s[1]
	fmla v3.4s, v22.4s, v31.s[2]
	fmla v3.4s, v23.4s, v31.s[3]
	add x2, x7, x1, lsl #4
	ld1 {v20.4s, v21.4s, v22.4s, v23.4s}, [x2]
	fmla v4.4s, v20.4s, v31.s[0]
	fmla v4.4s, v21.4s, v31.s[1]
	fmla v4.4s, v22.4s, v31.s[2]
	fmla v4.4s, v23.4s, v31.s[3]
	add x2, x8, x1, lsl #4
	ld1 {v20.4s, v21.4s, v22.4s, v23.4s}, [x2]
	fmla v5.4s, v20.4s, v31.s[0]
	fmla v5.4s, v21.4s, v31.s[1]
	fmla v5.4s, v22.4s, v31.s[2]
	fmla v5.4s, v23.4s, v31.s[3]
	add x2, x9, x1, lsl #4
	ld1 {v20.4s, v21.4s, v22.4s, v23.4s}, [x2]
	fmla v6.4s, v20.4s, v31.s[0]
	fmla v6.4s, v21.4s, v31.s[1]
	fmla v6.4s, v22.4s, v31.s[2]
	fmla v6.4s, v23.4s, v31.s[3]
	add x2, x10, x1, lsl #4
	ld1 {v20.4s, v21.4s, v22.4s, v23.4s}, [x2]
	fmla v7.4s, v20.4s, v31.s[0]
	fmla v7.4s, v21.4s, v31.s[1]
	fmla v7.4s, v22.4s, v31.s[2]
	fmla v7.4s, v23.4s, v31.s[3]
