hbmplan targets ./overlap.target
