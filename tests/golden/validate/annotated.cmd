hbmplan plan small.hbm --emit hbm | hbmplan validate -
