# A byte-order mark and CRLF.
printf '\357\273\277target toy\r\ninput x : 8 bytes\r\n' | hbmplan show -
