hbmplan validate small_pool
