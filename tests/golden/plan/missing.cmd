hbmplan plan missing.hbm
