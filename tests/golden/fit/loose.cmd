hbmplan fit loose.hlo --target trn2
