hbmplan plan small.hbm --allocator fastest
