hbmplan validate small.hbm
