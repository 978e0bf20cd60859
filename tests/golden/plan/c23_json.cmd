hbmplan plan c23.hbm --target c23.target --allocator size-first --json
