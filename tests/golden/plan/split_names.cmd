# The compiler's own names and unit. Three GiB above a threshold of one.
printf 'target trn1\ntensor a : u8[3, 1073741824]\nop () -> a\nop (a)\n' >"$work/p.hbm"
hbmplan plan "$work/p.hbm" --split_huge_dram_tensor 1 --no_split_dram --json | grep -o '"name": "a_VN_[0-9]"' | sort -u
hbmplan plan "$work/p.hbm" --split-huge-dram-tensor=1 --no-split-dram --json | grep -o '"name": "a_VN_[0-9]"' | sort -u
hbmplan plan "$work/p.hbm" --split_huge_dram_tensor 1GiB
