# What a lower threshold would bring, and that it does.
hbmplan fit split.hbm --allocator size-first --target trn1
hbmplan fit split.hbm --allocator size-first --no-remedies --split-threshold $(hbmplan fit split.hbm --target trn1 --allocator size-first | sed -n 's/.*--split-threshold \([0-9]*\).*/\1/p') --target trn1
