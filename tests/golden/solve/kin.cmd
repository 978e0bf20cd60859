printf 'id,lower,upper,size,set,shift\na,0,4,8,1,0\nb,2,6,12,1,8\nc,2,5,4,,\n' | hbmplan solve - -o -
printf 'id,lower,upper,size,set,group\na,0,4,8,1,\nb,2,6,12,1,\nc,2,5,4,,0\nd,0,6,4,,0\n' | hbmplan solve - -o -
printf 'id,lower,upper,size,set,shift,group\na,0,4,8,,3,\nb,2,6,12,1073741824,,x\n' | hbmplan solve -
