hbmplan plan small.hbm --json -o "$work/p.json" && hbmplan validate small.hbm "$work/p.json" --simulate
