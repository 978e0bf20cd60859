hbmplan targets trn2
