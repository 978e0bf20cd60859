hbmplan plan small.hlo --target trn1 --allocator size-first
