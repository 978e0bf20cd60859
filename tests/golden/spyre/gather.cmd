hbmplan plan --emit hbm gather.hbm
hbmplan plan --emit mlir gather.hbm
