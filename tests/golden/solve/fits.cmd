hbmplan solve five.csv --capacity 12 --allocator size-first
