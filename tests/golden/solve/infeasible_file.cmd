# No placement, no file.
hbmplan solve five.csv --capacity 11 --allocator size-first -o "$work/o.csv" | head -1; ls "$work" | grep o.csv; hbmplan solve five.csv --capacity 11 --allocator size-first -o - | head -1
