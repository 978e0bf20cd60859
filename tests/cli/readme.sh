#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The example in README.md is what the command prints.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$HBM_SOURCE" || exit 2
sed -n '/^    \$ hbmplan plan/,/^The exit code/p' README.md | sed '1d;$d' |
	sed 's/^    //' | sed '$d' >"$work/readme"
"$HBMPLAN" plan examples/transformer.hbm | sed 's/ *$//' >"$work/printed"
diff -u "$work/readme" "$work/printed"
