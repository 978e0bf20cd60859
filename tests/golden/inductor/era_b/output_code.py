def call(args):
    arg0_1, = args
    args.clear()
    assert_size_stride(arg0_1, (8, 8), (8, 1))
    buf0 = empty((8, 8), device='cpu', dtype=torch.float64)
    buf1 = empty_strided((8, 1), (1, 8), device='cpu', dtype=torch.float64)
    buf2 = buf0; del buf0  # reuse
    cpp_fused_0(c_void_p(buf2.data_ptr()), c_void_p(arg0_1.data_ptr()), c_void_p(buf1.data_ptr()))
    del arg0_1
    return (buf2, )
