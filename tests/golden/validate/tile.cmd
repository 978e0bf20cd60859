# A plan read back knows how many tiles there are, and that some number is open.
hbmplan plan tile.hbm --emit hbm -o "$work/p.hbm"; grep tile "$work/p.hbm"; hbmplan validate "$work/p.hbm" --simulate; hbmplan plan tile.hbm --json -o "$work/p.json"; hbmplan validate tile.hbm "$work/p.json" --simulate
