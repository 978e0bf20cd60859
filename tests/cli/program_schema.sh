#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `show --json` prints is valid by schema/program.schema.json and reads back as
# the same program; the schema refuses what the reader refuses.
set -u
python3 -c 'import jsonschema' 2>/dev/null ||
	{ echo "SKIP: python3 without jsonschema"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0 n=0
for file in "$HBM_SOURCE"/examples/*.hbm "$HBM_SOURCE"/fuzz/seeds/ir/gen*.hbm \
	"$HBM_SOURCE"/fuzz/seeds/ir/odd*.hbm; do
	[ -e "$file" ] || continue
	n=$((n + 1))
	"$HBMPLAN" show --json "$file" >"$work/good$n.json" || bad=1
	"$HBMPLAN" show "$file" >"$work/one.hbm" || bad=1
	"$HBMPLAN" show "$work/good$n.json" >"$work/two.hbm" || bad=1
	cmp "$work/one.hbm" "$work/two.hbm" || { echo "$file: differs"; bad=1; }
done
[ $n -gt 5 ] || { echo "only $n programs"; bad=1; }
for name in values nodes other version; do
	cp "$HBM_SOURCE/tests/golden/ir/$name.json" "$work/bad_$name.json"
done
python3 - "$HBM_SOURCE/schema/program.schema.json" "$work"/*.json <<'PY' || bad=1
import json, os, sys
import jsonschema
schema = json.load(open(sys.argv[1], encoding="utf-8"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
wrong = 0
for path in sys.argv[2:]:
    errors = list(validator.iter_errors(json.load(open(path, encoding="utf-8"))))
    expect_good = not os.path.basename(path).startswith("bad_")
    if expect_good == bool(errors):
        print(path, "is accepted" if not errors else errors[0].message)
        wrong += 1
sys.exit(wrong != 0)
PY
echo "$n programs"
exit $bad
