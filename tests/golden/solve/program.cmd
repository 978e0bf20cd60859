hbmplan solve ../plan/small.hbm
