hbmplan plan --lx-planning off --emit mlir fallback.hbm
