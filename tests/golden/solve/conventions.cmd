hbmplan solve closed.csv --allocator bump; hbmplan solve half_open.csv --allocator bump
