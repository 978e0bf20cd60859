hbmplan fit small.hlo --target trn9
