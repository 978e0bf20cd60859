#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reading, packing, checking and writing a table of twice the size takes at most
# 2.3 times the instructions, counted by callgrind, also when all lives overlap or
# are nested under many that stay.
set -u
command -v valgrind >/dev/null || { echo "SKIP: no valgrind"; exit 77; }
[ -z "${HBM_SANITIZE:-}" ] || { echo "SKIP: sanitizers and valgrind do not mix"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

table() { # SHAPE BUFFERS
	awk -v shape="$1" -v n="$2" 'BEGIN {
		print "id,lower,upper,size"
		for (i = 0; i < n; i++) {
			a = i; b = i + 1 + i * 7919 % 50
			if (shape == "all-live") { a = 0; b = 10 }
			if (shape == "nested") { a = i; b = 2 * n - i }
			if (shape == "chain") b = i + 1
			if (shape == "stairs") b = i + n
			if (shape == "train") { # saved forward, freed backward
				j = i % 500; r = i - j; a = r + j; b = a + 1 + i * 7919 % 3
				if (i % 4 == 0) { a = r + int(j / 2); b = r + 500 - int(j / 2) }
				if (i % 40 == 1) b = n
			}
			print i "," a "," b "," 64 * (1 + i * 104729 % 1000)
		}
	}' >"$work/t.csv"
}

instructions() { # ALLOCATOR SHAPE BUFFERS
	table "$2" "$3"
	valgrind --tool=callgrind --callgrind-out-file="$work/out" "$HBMPLAN" solve \
		"$work/t.csv" --allocator "$1" --threads 1 -o "$work/placed.csv" \
		>"$work/said" 2>"$work/err" || { cat "$work/said" "$work/err" >&2; exit 1; }
	sed -n 's/^summary: //p' "$work/out"
}

compare() { # ALLOCATOR SHAPE...
	allocator=$1
	shift
	for shape; do
		small=$(instructions "$allocator" "$shape" 10000)
		large=$(instructions "$allocator" "$shape" 20000)
		echo "$allocator, $shape: 10000 buffers $small instructions, 20000 $large"
		[ -n "$small" ] && [ -n "$large" ] &&
			[ $((large * 10)) -le $((small * 23)) ] ||
			{ echo "FAIL: more than 2.3 times"; bad=1; }
	done
}

bad=0
compare bump short chain all-live nested stairs
compare skyline short chain all-live nested stairs
compare life-first train
compare auto chain all-live nested stairs
exit $bad
