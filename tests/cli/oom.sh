#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command survives a failing allocation, wherever it is made: it ends with
# a message and exit code 70 (or does without what it could not have), prints no
# half of an output file, and never dies of a signal.
set -u
shim=$HBM_BUILD/tests/failmalloc.so
[ -e "$shim" ] || { echo "SKIP: no failmalloc.so in this build"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

sweep() { # ARGUMENT...
	"$HBMPLAN" "$@" >"$work/good" 2>"$work/good.err"
	good=$?
	n=0 runs=0
	while :; do
		rm -f "$work/reached"
		LD_PRELOAD=$shim FAILMALLOC_AT=$n FAILMALLOC_REACHED=$work/reached \
			"$HBMPLAN" "$@" >"$work/out" 2>"$work/err"
		code=$?
		runs=$((runs + 1))
		[ -e "$work/reached" ] || break
		case $code in
		70) [ -s "$work/err" ] || { echo "$*: allocation $n: silent"; bad=1; } ;;
		"$good") ;;
		*) echo "$*: allocation $n: exit code $code"; cat "$work/err"; bad=1 ;;
		esac
		n=$((n + 1 + n / 40))
	done
	[ $code = "$good" ] && cmp -s "$work/good" "$work/out" ||
		{ echo "$*: another answer under the shim ($code)"; bad=1; }
	[ $runs -gt 1 ] || { echo "$*: no allocation was made to fail"; bad=1; }
	echo "$*: $runs runs"
}

cd "$HBM_SOURCE" || exit 2
sweep targets
sweep targets trn2
sweep targets tests/golden/targets/faults.target
for example in examples/*.hbm; do
	[ ! -e "$example" ] || sweep plan "$example"
done
exit $bad
