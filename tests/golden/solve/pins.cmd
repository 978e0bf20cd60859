printf 'id,lower,upper,size,offset\na,0,2,1024,0\nb,1,4,1024,512\nc,0,4,64,\n' | hbmplan solve -
