hbmplan plan small.hbm --allocator size-first --resident 65500 --disable-hbm-usage-check
