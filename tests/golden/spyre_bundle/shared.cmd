hbmplan show shared
hbmplan validate --simulate shared
