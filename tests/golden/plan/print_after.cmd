hbmplan plan small.hbm --print-after hbm-pool
