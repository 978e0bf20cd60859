# SPDX-License-Identifier: Apache-2.0
# What is emitted passes mlir-opt's verifier with our dialect file, and constant
# folding brings every pool address to the offset in the plan.
set -u
opt=
for name in mlir-opt-19 mlir-opt; do
	if command -v $name >/dev/null && $name --version | grep -q 'version 19'; then
		opt=$name
	fi
done
if [ -z "$opt" ]; then
	echo "SKIP: mlir-opt 19 is not here (Debian package mlir-19-tools)"
	exit 77
fi
dialect=$HBM_SOURCE/dialect/sdscbundle.irdl.mlir
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 checked=0
fail() { echo "FAIL: $*"; failed=1; }

check() { # file options...
	file=$1
	shift
	rm -rf "$work/out"
	"$HBMPLAN" plan "$@" --emit mlir --mlir-generic -o "$work/out" "$file" \
		2>"$work/err" || { fail "$file $*: $(cat "$work/err")"; return; }
	for m in "$work"/out/*.mlir; do
		[ -e "$m" ] || continue
		checked=$((checked + 1))
		$opt --irdl-file="$dialect" --verify-each "$m" >"$work/verified" \
			2>"$work/err" || fail "$file $*: $(head -3 "$work/err")"
	done
}

for file in "$HBM_SOURCE"/tests/golden/spyre/*.hbm "$HBM_SOURCE"/examples/*.hbm; do
	check "$file"
	check "$file" --lx-planning off
	check "$file" --lx-planning off --sencores 4
	check "$file" --no-bundle-symbolic-args
done

# The dialect file refuses what is wrong.
check "$HBM_SOURCE/tests/golden/spyre/pool.hbm" --lx-planning off
sed 's/size = [0-9]* : i64/size = "much"/' "$work/out/bundle_0.mlir" >"$work/bad.mlir"
$opt --irdl-file="$dialect" "$work/bad.mlir" >/dev/null 2>&1 && fail "bad size accepted"
sed 's/device_mem_allocate/device_mem_alloc/' "$work/out/bundle_0.mlir" >"$work/bad.mlir"
$opt --irdl-file="$dialect" "$work/bad.mlir" >/dev/null 2>&1 && fail "unknown op accepted"

# With the pool at byte 0 its addresses fold to constants: the offsets of the plan.
fold() { # file expected...
	file=$HBM_SOURCE/tests/golden/spyre/$1
	shift
	check "$file" --lx-planning off
	sed 's/%pool = .*/%pool = arith.constant 0 : index/' "$work/out/bundle_0.mlir" |
		$opt --irdl-file="$dialect" --lower-affine --canonicalize --cse |
		grep sdsc_execute | grep -o '%c[0-9]*' | tr -d '%c' | sort -nu |
		tr '\n' ' ' >"$work/folded"
	[ "$(cat "$work/folded")" = "$* " ] || fail "$file: folded to $(cat "$work/folded")"
}
fold pool.hbm 0 8192
fold cores.hbm 0 4096 8192 12288
"$HBMPLAN" plan --lx-planning off --emit hbm "$HBM_SOURCE/tests/golden/spyre/pool.hbm" |
	grep -o '@ pool k0 [0-9]*' | grep -o '[0-9]*$' | sort -nu | tr '\n' ' ' >"$work/plan"
[ "$(cat "$work/plan")" = "0 8192 " ] || fail "the plan's offsets: $(cat "$work/plan")"

echo "$checked modules checked"
[ $checked -ge 30 ] || fail "too few modules"
exit $failed
