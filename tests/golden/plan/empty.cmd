hbmplan plan -
