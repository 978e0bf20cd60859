hbmplan plan small.hbm --passes hbm-pool,polish
