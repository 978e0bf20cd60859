hbmplan fit small.hlo --target trn1 --target trn3 --json
