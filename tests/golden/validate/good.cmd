hbmplan validate small.hbm good.json
