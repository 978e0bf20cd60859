hbmplan plan small.hbm --allocator size-first --resident 65500
