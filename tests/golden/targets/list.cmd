hbmplan targets
