hbmplan plan small.hbm --passes hbm-pool,polish
for passes in scratchpad prepare-kernels work-division,hbm-pool,scratchpad hbm-pool,fuse \
	work-division,scratchpad,reorder; do
	hbmplan plan small.hbm --passes $passes
done
