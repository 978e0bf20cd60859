hbmplan plan small.hbm --bind n
