hbmplan plan loose.hlo --target trn2
