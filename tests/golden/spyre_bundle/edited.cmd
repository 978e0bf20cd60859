# Texts that are wrong in one place.
edit() { # SED-COMMAND
	mkdir -p "$work/b"
	cp loop/sdsc_*.json "$work/b"
	sed "$1" loop/bundle.mlir >"$work/b/bundle.mlir"
	(cd "$work" && hbmplan validate b)
}
edit 's/constant 4 : index/constant 0 : index/'
edit 's/constant 1 : index/constant 0 : index/'
edit 's/%loop_bound_0 step/%arg_0 step/'
edit 's/allocate 8448/allocate 15032385537/'
edit 's/allocate 8448/allocate 0/'
edit 's/"sdsc_0.json/"..\/sdsc_0.json/'
edit 's/\[-1, -2\]/[-1]/'
edit 's/constant 256/constant 4611686018427387000/'
edit 's/8192\*d0/4096*d0/'
edit '/^\t\t}/d'
