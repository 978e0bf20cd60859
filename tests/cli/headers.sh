#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, as C11 and as C++17.
set -u
strict='-fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror'
cc=${CC:-cc} cxx=${CXX:-c++}
command -v "$cc" >/dev/null || { echo "SKIP: no C compiler"; exit 77; }
command -v "$cxx" >/dev/null || { echo "SKIP of the C++ half: no C++ compiler"; cxx=; }
bad=0 n=0
for header in "$HBM_SOURCE"/include/hbmplan/*.h; do
	n=$((n + 1))
	name=hbmplan/${header##*/}
	echo "#include \"$name\"" |
		"$cc" -std=c11 $strict -I"$HBM_SOURCE/include" -xc - || bad=1
	[ -z "$cxx" ] || echo "#include \"$name\"" |
		"$cxx" -std=c++17 $strict -I"$HBM_SOURCE/include" -xc++ - || bad=1
done
echo "$n headers"
[ $n -gt 0 ] && [ $bad = 0 ]
