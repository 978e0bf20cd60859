#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reading, planning and gating an HLO module of twice the size takes at most two and a
# half times the instructions, counted by callgrind, and reading is most of it.
set -u
command -v valgrind >/dev/null || { echo "SKIP: no valgrind"; exit 77; }
[ -z "${HBM_SANITIZE:-}" ] || { echo "SKIP: sanitizers and valgrind do not mix"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

instructions() { # COUNT ORDER STEP...
	"$HBM_SOURCE/bench/gen_hlo" "$1" "$2" >"$work/m.hlo"
	shift 2
	valgrind --tool=callgrind --callgrind-out-file="$work/out" "$HBMPLAN" "$@" \
		"$work/m.hlo" >"$work/log" 2>&1
	[ $? -le 1 ] || { cat "$work/log" >&2; exit 1; }
	sed -n 's/^summary: //p' "$work/out"
}

bad=0
for order in scheduled unscheduled; do
	small=$(instructions 1000 $order fit --no-remedies --target trn2)
	large=$(instructions 2000 $order fit --no-remedies --target trn2)
	echo "$order: 1000 instructions: $small; 2000: $large"
	[ -n "$small" ] && [ -n "$large" ] && [ $((large * 10)) -le $((small * 25)) ] || bad=1
done
read_only=$(instructions 2000 unscheduled show)
echo "of which reading (and printing): $read_only"
[ $((read_only * 2)) -ge "$large" ] || bad=1
exit $bad
