hbmplan plan small.hbm --pool-lifetime=forever
