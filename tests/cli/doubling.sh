#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reading, planning, checking and writing a program of twice the size takes at most
# two and a half times the instructions, counted by callgrind.
set -u
command -v valgrind >/dev/null || { echo "SKIP: no valgrind"; exit 77; }
[ -z "${HBM_SANITIZE:-}" ] || { echo "SKIP: sanitizers and valgrind do not mix"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

program() { # TENSORS
	awk -v n="$1" 'BEGIN {
		print "output y : 128 bytes"
		for (i = 0; i < n; i++) print "tensor t" i " : " 1024 * (1 + i * 7919 % 100) " bytes"
		for (i = 0; i < n; i++) {
			if (i % 100 == 0) print "bundle k" i / 100 " {\n  op () -> t" i
			else print "  op (t" i - 1 (i % 100 > 20 ? ", t" i - 20 : "") ") -> t" i
			if (i % 100 == 99) print "  op (t" i ") -> y\n}"
		}
	}'
}

instructions() { # TENSORS
	program "$1" >"$work/p.hbm"
	valgrind --tool=callgrind --callgrind-out-file="$work/out" "$HBMPLAN" plan \
		"$work/p.hbm" --passes hbm-pool --json -o "$work/plan.json" 2>"$work/err" || {
		cat "$work/err" >&2
		exit 1
	}
	sed -n 's/^summary: //p' "$work/out"
}

small=$(instructions 2000) large=$(instructions 4000)
echo "2000 tensors: $small instructions; 4000: $large"
[ -n "$small" ] && [ -n "$large" ] && [ $((large * 10)) -le $((small * 25)) ]
