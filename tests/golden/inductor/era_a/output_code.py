def call(args):
    primals_1, primals_2 = args
    args.clear()
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0) # no-op to ensure context
        buf1 = empty_strided((8, 4), (4, 1), device='cuda', dtype=torch.float32)
        stream0 = get_cuda_stream(0)
        triton__0.run(primals_1, buf1, 8, 4, grid=grid(8), stream=stream0)
        print('triton__0', 'in_ptr0', 'primals_1', (primals_1.sum()/primals_1.nelement()).item())
        buf2 = empty_strided((8, 2), (2, 1), device='cuda', dtype=torch.float32)
        extern_kernels.mm(buf1, as_strided(primals_2, (4, 2), (1, 4)), out=buf2)
        del buf1
        del primals_2
        buf3 = aten.thing(buf2, 3)
        buf4 = buf3[0]
        assert_size_stride(buf4, (16, ), (1, ))
        del buf3
        buf6 = empty_strided((4, 8), (8, 1), device='cuda', dtype=torch.float32)
        buf5 = as_strided(buf6, (4, 4), (8, 1), 4)  # alias
        triton__1.run(buf4, buf5, 16, grid=grid(16), stream=stream0)
        triton__2.run(primals_1, buf6, 8, grid=grid(8), stream=stream0)
        return (as_strided(buf6, (32, ), (1, )), buf2, None, )


if __name__ == "__main__":
    primals_1 = rand_strided((8, 4), (4, 1), device='cuda:0', dtype=torch.float32)
    primals_2 = rand_strided((2, 4), (4, 1), device='cuda:0', dtype=torch.float32)
    print_performance(lambda: call([primals_1, primals_2]))
