hbmplan fit tiny.hlo --target trn1
