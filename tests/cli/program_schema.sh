#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `show --json` prints is valid by schema/program.schema.json, reads back as
# the same program, and the schema refuses what the reader refuses.
set -u
python3 -c 'import jsonschema' 2>/dev/null ||
	{ echo "SKIP: python3 without jsonschema"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
check() { # FILE: 0 when valid by the schema
	python3 - "$HBM_SOURCE/schema/program.schema.json" "$1" <<'PY'
import json, sys
import jsonschema
schema, data = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
jsonschema.Draft202012Validator.check_schema(schema)
try:
    jsonschema.Draft202012Validator(schema).validate(data)
except jsonschema.ValidationError as error:
    print(error.json_path, error.message)
    sys.exit(1)
PY
}

n=0
for file in "$HBM_SOURCE"/examples/*.hbm "$HBM_SOURCE"/fuzz/seeds/ir/gen*.hbm \
	"$HBM_SOURCE"/fuzz/seeds/ir/odd*.hbm; do
	[ -e "$file" ] || continue
	"$HBMPLAN" show --json "$file" >"$work/out.json" || { bad=1; continue; }
	check "$work/out.json" || { echo "$file: not by the schema"; bad=1; }
	"$HBMPLAN" show "$file" >"$work/one.hbm" &&
		"$HBMPLAN" show "$work/out.json" >"$work/two.hbm" &&
		cmp "$work/one.hbm" "$work/two.hbm" || { echo "$file: differs"; bad=1; }
	n=$((n + 1))
done
[ $n -gt 5 ] || { echo "only $n programs"; bad=1; }
for file in values nodes other version; do
	check "$HBM_SOURCE/tests/golden/ir/$file.json" >/dev/null &&
		{ echo "$file.json: the schema accepts it"; bad=1; }
done
echo "$n programs"
exit $bad
