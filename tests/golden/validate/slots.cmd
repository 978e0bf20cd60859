# A dump and the text made of it have the same sizes on a target with slots of its own.
hbmplan plan slots --json | grep -o '"buf0", "home".*reserved'; hbmplan plan slots --json -o "$work/p.json"; hbmplan plan slots --emit hbm -o "$work/p.hbm"; hbmplan validate "$work/p.hbm" "$work/p.json"; hbmplan validate slots "$work/p.json"
