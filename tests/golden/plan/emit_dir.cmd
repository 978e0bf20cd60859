# Files of an earlier run are told; a program without bundles has no code.
mkdir "$work/code"; touch "$work/code/bundle_1.mlir"
hbmplan plan small.hbm --emit mlir -o "$work/code" 2>&1 | sed "s|$work/||"
ls "$work/code"
printf 'target spyre\ninput x : 256 bytes\noutput y : 256 bytes\nop f(x) -> y kind=fallback\n' >"$work/cpu.hbm"
hbmplan plan "$work/cpu.hbm" --emit mlir
