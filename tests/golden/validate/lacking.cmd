hbmplan validate small.hbm lacking.json
