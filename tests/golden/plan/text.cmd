hbmplan plan small.hbm --allocator size-first
