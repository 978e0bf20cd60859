hbmplan plan empty.hbm
