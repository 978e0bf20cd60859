hbmplan plan empty.hbm --emit mlir
