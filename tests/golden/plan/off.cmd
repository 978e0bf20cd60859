HBM_POOL_PLANNING=0 hbmplan plan small.hbm --allocator size-first
