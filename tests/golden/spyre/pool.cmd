hbmplan plan --lx-planning off --emit mlir pool.hbm
echo ---- with the scratchpad
hbmplan plan --emit mlir pool.hbm
echo ---- generic
hbmplan plan --lx-planning off --emit mlir --mlir-generic pool.hbm
