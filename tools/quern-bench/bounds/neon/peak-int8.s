// smull multiplies eight pairs of bytes to 16 bits; sadalp adds pairs of the products to sums of 32 bits.
// multiplies: 128 flops in 128 bits
	smull v0.8h, v30.8b, v31.8b
	sadalp v8.4s, v0.8h
	smull v1.8h, v30.8b, v31.8b
	sadalp v9.4s, v1.8h
	smull v2.8h, v30.8b, v31.8b
	sadalp v10.4s, v2.8h
	smull v3.8h, v30.8b, v31.8b
	sadalp v11.4s, v3.8h
	smull v4.8h, v30.8b, v31.8b
	sadalp v12.4s, v4.8h
	smull v5.8h, v30.8b, v31.8b
	sadalp v13.4s, v5.8h
	smull v6.8h, v30.8b, v31.8b
	sadalp v14.4s, v6.8h
	smull v7.8h, v30.8b, v31.8b
	sadalp v15.4s, v7.8h
