hbmplan plan
