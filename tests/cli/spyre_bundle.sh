# SPDX-License-Identifier: Apache-2.0
# Bundles that torch-spyre wrote are legal plans, also when they are executed.
dir=$HBM_SHARED/data/real/spyre-bundle
if [ ! -d "$dir" ]; then
	echo "SKIP: no real bundles at $dir"
	exit 77
fi
failed=0
for d in "$dir"/*/; do
	out=$("$HBMPLAN" validate --simulate "$d" 2>/dev/null)
	[ "$out" = valid ] || { echo "FAIL: $d: $out"; failed=1; }
done
exit $failed
