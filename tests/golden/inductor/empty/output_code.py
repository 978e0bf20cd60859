def call(args):
    arg0_1, arg1_1 = args
    args.clear()
    assert_size_stride(arg0_1, (8, 8), (8, 1))
    return (arg0_1, reinterpret_tensor(arg1_1, (4, ), (2, ), 0), )

def benchmark_compiled_module(times=10, repeat=10):
    arg0_1 = rand_strided((8, 8), (8, 1), device='cpu', dtype=torch.float32)
    arg1_1 = rand_strided((8, ), (1, ), device='cpu', dtype=torch.float32)
