hbmplan plan division/span.hbm --print-after work-division
hbmplan plan division/span.hbm --sencores 8
hbmplan plan division/given.hbm
hbmplan plan division/given.hbm --sencores 2
hbmplan plan division/said.hbm
