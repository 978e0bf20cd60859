hbmplan plan small.hbm --pool-cap 0; hbmplan plan small.hbm --dram-block=0; hbmplan plan small.hbm --resident 4611686018427387904; hbmplan plan small.hbm --resident 0 | head -1
