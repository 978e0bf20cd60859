hbmplan plan small.hbm --alocator bump
