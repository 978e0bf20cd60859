# What lies in host memory has no address on the device.
for offset in '' 0 128; do
	sed "s/OFFSET/$offset/" host_address.hbm >"$work/p.hbm"
	(cd "$work" && hbmplan validate p.hbm)
done
