hbmplan solve five.csv --allocator size-first -o -
