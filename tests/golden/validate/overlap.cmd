hbmplan validate small.hbm overlap.json
