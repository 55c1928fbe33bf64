// bfmmla, 32 flops in 128 bits, with enough sums to hide its latency.
// multiplies: 768 flops in 128 bits
	bfmmla v0.4s, v30.8h, v31.8h
	bfmmla v1.4s, v30.8h, v31.8h
	bfmmla v2.4s, v30.8h, v31.8h
	bfmmla v4.4s, v30.8h, v31.8h
	bfmmla v5.4s, v30.8h, v31.8h
	bfmmla v6.4s, v30.8h, v31.8h
	bfmmla v7.4s, v30.8h, v31.8h
	bfmmla v8.4s, v30.8h, v31.8h
	bfmmla v9.4s, v30.8h, v31.8h
	bfmmla v10.4s, v30.8h, v31.8h
	bfmmla v11.4s, v30.8h, v31.8h
	bfmmla v12.4s, v30.8h, v31.8h
	bfmmla v13.4s, v30.8h, v31.8h
	bfmmla v14.4s, v30.8h, v31.8h
	bfmmla v15.4s, v30.8h, v31.8h
	bfmmla v16.4s, v30.8h, v31.8h
	bfmmla v17.4s, v30.8h, v31.8h
	bfmmla v18.4s, v30.8h, v31.8h
	bfmmla v19.4s, v30.8h, v31.8h
	bfmmla v20.4s, v30.8h, v31.8h
	bfmmla v21.4s, v30.8h, v31.8h
	bfmmla v22.4s, v30.8h, v31.8h
	bfmmla v23.4s, v30.8h, v31.8h
	bfmmla v24.4s, v30.8h, v31.8h
