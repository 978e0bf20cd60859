hbmplan solve c65.csv --capacity 209715200 | head -5; hbmplan solve c65.csv --allocator bump
