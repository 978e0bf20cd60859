hbmplan plan pin_unaligned.hbm --target spyre --passes hbm-pool
