hbmplan fit small.hlo tiny.hlo --target trn1 --no-remedies
