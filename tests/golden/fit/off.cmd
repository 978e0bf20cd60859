hbmplan fit small.hlo --target trn1 --disable-hbm-usage-check --no-remedies
