# A plan is checked for the target that it was made for.
grep -v '^target' small.hbm >"$work/p.hbm"; hbmplan plan "$work/p.hbm" --target trn1 --json -o "$work/p.json"; hbmplan validate "$work/p.hbm" "$work/p.json"; hbmplan plan "$work/p.hbm" --target toy --emit hbm | hbmplan validate -; sed 's/"trn1"/"gone"/' "$work/p.json" | hbmplan validate "$work/p.hbm" /dev/stdin
