hbmplan targets spyre
