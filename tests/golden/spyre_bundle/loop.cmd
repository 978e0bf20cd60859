hbmplan show loop
hbmplan validate --simulate loop
