# Each core has the block that it wrote, so all ops must cut the tensor alike.
for reader in 'i=2 split=2, j=2 split=1' 'i=2 split=1, j=2 split=2' 'i=2 split=1, k=4 split=2'; do
	sed "s/READER/$reader/" lx_cores.hbm >"$work/p.hbm"
	(cd "$work" && hbmplan validate p.hbm)
done
