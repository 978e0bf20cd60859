hbmplan targets inf1
