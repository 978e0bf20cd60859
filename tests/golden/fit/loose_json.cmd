hbmplan fit loose.hlo tiny.hlo --target trn2 --json
