hbmplan targets core_v5
