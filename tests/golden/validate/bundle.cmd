hbmplan validate small.hbm bundle.json
