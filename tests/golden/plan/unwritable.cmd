hbmplan plan small.hbm -o /nowhere/at/all
