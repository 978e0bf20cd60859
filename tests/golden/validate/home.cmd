hbmplan validate small.hbm home.json
