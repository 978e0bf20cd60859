hbmplan solve five.csv --capacity 11 --allocator size-first
