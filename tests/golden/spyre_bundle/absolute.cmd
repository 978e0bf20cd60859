hbmplan show absolute
hbmplan validate --simulate absolute
