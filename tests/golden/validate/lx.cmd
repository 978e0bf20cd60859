# In the scratchpad a storage has its own size, not what HBM would reserve.
hbmplan plan lx.hbm --emit hbm -o "$work/p.hbm"; grep '@ lx' "$work/p.hbm"; hbmplan validate "$work/p.hbm"; hbmplan plan lx.hbm --json -o "$work/p.json"; hbmplan validate "$work/p.hbm" "$work/p.json"
