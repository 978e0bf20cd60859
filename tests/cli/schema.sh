#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is written follows the schema files.
set -u
python3 -c 'import jsonschema' 2>/dev/null || { echo "SKIP: no python3-jsonschema"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$HBM_SOURCE" || exit 2

follows() { # SCHEMA FILE
	python3 - "$1" "$2" <<-'PY'
	import json, sys, jsonschema
	jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))
	PY
}

bad=0
for program in examples/*.hbm tests/golden/plan/*.hbm; do
	"$HBMPLAN" plan "$program" --json -o "$work/plan.json" --target spyre >/dev/null 2>&1
	follows schema/plan.schema.json "$work/plan.json" || { echo "$program: plan"; bad=1; }
	"$HBMPLAN" show "$program" --json -o "$work/program.json" || bad=1
	follows schema/program.schema.json "$work/program.json" || { echo "$program: program"; bad=1; }
done
exit $bad
