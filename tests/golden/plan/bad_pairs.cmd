for options in '--json --emit text' '--emit mlir --print-after fuse' --mlir-generic \
	'--sencores 0' '--sencores 33 --target spyre' '--dxp-lx-frac-avail .' \
	'--dxp-lx-frac-avail 1.000001' '--dxp-lx-frac-avail nan' \
	'--lx-solver simplex --target spyre' '--lx-features walls --target spyre' \
	'--lx-planning yes'; do
	hbmplan plan small.hbm $options
done
