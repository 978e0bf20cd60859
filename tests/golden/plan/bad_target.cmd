hbmplan plan small.hbm --target nosuch
