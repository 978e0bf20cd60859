head -c 200 small.hbm | hbmplan plan -
