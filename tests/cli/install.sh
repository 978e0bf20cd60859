#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is installed can be used: by pkg-config (shared and static), from C++, and
# by CMake's find_package, from a place other than the one it was built for.
set -eu
[ -z "${HBM_SANITIZE:-}" ] || { echo 'SKIP: a build with sanitizers'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$HBM_BUILD" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/usr"

cd "$work"
cat >use.c <<'END'
#include <hbmplan/hbmplan.h>
#include <stdio.h>
int main(void)
{
	puts(hbm_version());
	return !hbm_target_nth(0);
}
END
cp use.c use.cc
lib=$(dirname "$(find usr -name libhbmplan.a)")
export PKG_CONFIG_PATH="$work/$lib/pkgconfig" LD_LIBRARY_PATH="$work/$lib"
want=$(usr/bin/hbmplan --version | cut -d ' ' -f 2)
check() { got=$("$@"); [ "$got" = "$want" ] || { echo "$*: '$got' is not '$want'"; exit 1; }; }

[ "$(pkg-config --modversion hbmplan)" = "$want" ]
cc use.c -o shared $(pkg-config --cflags --libs hbmplan)
check ./shared
cc use.c -o static $(pkg-config --cflags hbmplan) "$lib/libhbmplan.a" \
	$(pkg-config --static --libs hbmplan | sed 's/-lhbmplan//')
check ./static
if command -v c++ >/dev/null; then
	c++ -std=c++17 use.cc -o plus $(pkg-config --cflags --libs hbmplan)
	check ./plus
fi

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(use C)
find_package(hbmplan 0.1 REQUIRED)
add_executable(by_shared use.c)
target_link_libraries(by_shared hbmplan::hbmplan)
add_executable(by_static use.c)
target_link_libraries(by_static hbmplan::static)
END
cmake -S . -B build -DCMAKE_PREFIX_PATH="$work/usr" >log && cmake --build build >>log ||
	{ cat log; exit 1; }
check build/by_shared
check build/by_static

# Only the library's own names are visible.
nm -D --defined-only "$lib/libhbmplan.so" | awk '$3 !~ /^hbm_/ { print; bad = 1 } END { exit bad }'
# No header of the installed set is missing.
for header in usr/include/hbmplan/*.h; do
	echo "#include <hbmplan/${header##*/}>" | cc -fsyntax-only -Iusr/include -xc -
done
ls usr/share/hbmplan/targets | grep -q spyre.target
