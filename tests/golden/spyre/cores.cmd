hbmplan plan --lx-planning off --emit mlir cores.hbm
