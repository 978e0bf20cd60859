hbmplan validate missing_op
