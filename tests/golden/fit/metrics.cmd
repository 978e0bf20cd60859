hbmplan plan small.hlo --target trn1 --emit metrics
