hbmplan plan small.hbm --allocator bump --simulate
