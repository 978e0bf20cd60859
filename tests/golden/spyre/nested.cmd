hbmplan plan --lx-planning off --emit mlir nested.hbm
