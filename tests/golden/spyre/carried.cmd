hbmplan plan --emit hbm carried.hbm
hbmplan plan --emit mlir carried.hbm
echo ---- in HBM
hbmplan plan --lx-planning off --emit mlir carried.hbm
