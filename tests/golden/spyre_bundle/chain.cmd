hbmplan validate chain.mlir
