hbmplan show small.hbm --json | hbmplan show - 
