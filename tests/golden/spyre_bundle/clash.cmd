hbmplan validate clash
