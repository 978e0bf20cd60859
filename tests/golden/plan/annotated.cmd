hbmplan plan small.hbm --allocator size-first --emit hbm
