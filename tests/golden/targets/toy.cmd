hbmplan targets toy
