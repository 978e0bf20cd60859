#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Inductor dumps through the command: symbols need values, and which ones is said.
set -u
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room" || exit 1
dumps=$HBM_SOURCE/tests/golden/inductor
fail() { echo "FAIL: $*"; exit 1; }

"$HBMPLAN" show "$dumps/symbolic" >out.hbm 2>err.txt
[ $? = 2 ] || fail "unbound symbols must be refused with exit code 2"
grep -q "'s0', which has no value" err.txt || fail "s0 is not named: $(cat err.txt)"
grep -q "'s1', which has no value" err.txt || fail "s1 is not named: $(cat err.txt)"

"$HBMPLAN" show --bind s0=3 --bind s1=11 "$dumps/symbolic" >out.hbm ||
	fail "bound symbols must do"
grep -q 'buf1 : f32\[s0=3, 6\]' out.hbm || fail "wrong extents: $(cat out.hbm)"

# What is printed can be read back and is the same.
for dump in mutation concat tuple alias era_a era_b spyre foreach; do
	"$HBMPLAN" show "$dumps/$dump" >one.hbm 2>/dev/null || fail "$dump"
	"$HBMPLAN" show one.hbm >two.hbm || fail "$dump: its text is not read"
	cmp one.hbm two.hbm || fail "$dump: its text changes"
	"$HBMPLAN" plan "$dumps/$dump" >plan.txt 2>&1 || fail "$dump: $(cat plan.txt)"
done

# From standard input.
"$HBMPLAN" show - <"$dumps/concat/ir_post_fusion.txt" >three.hbm || fail "stdin"
grep -q 'bundle op2' three.hbm || fail "stdin: $(cat three.hbm)"
