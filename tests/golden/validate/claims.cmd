# Each figure that a plan claims is compared with what the checker finds itself.
hbmplan plan small.hbm --json -o "$work/p.json"
hbmplan plan ../fit/small.hlo --target trn2 --json -o "$work/q.json" 2>/dev/null
lie() { # PROGRAM PLAN EXPRESSION
	echo "-- $3"
	sed "$3" "$2" | hbmplan validate "$1" /dev/stdin 2>&1 | grep -v -e warning -e '^  '
}
for key in tick live_bytes lx_peak_bytes hbm_traffic_bytes excess_bytes lower_bound_bytes; do
	lie small.hbm "$work/p.json" "s/\"$key\": [0-9]*/\"$key\": 7/"
done
lie small.hbm "$work/p.json" 's/"status": "ok"/"status": "over_budget"/'
lie small.hbm "$work/p.json" 's/"status": "ok"/"status": "fine"/'
lie small.hbm "$work/p.json" 's/"at_least": false/"at_least": true/'
lie small.hbm "$work/p.json" 's/"optimal"/"best"/'
# Larger than it need be, and said to be the least.
lie small.hbm "$work/p.json" 's/extent_bytes": 96/extent_bytes": 196/; s/bound_bytes": 96/bound_bytes": 196/; s/pools_bytes": 96/pools_bytes": 196/; s/sum_bytes": 96/sum_bytes": 196/; s/total_bytes": 128/total_bytes": 228/'
for key in model_bytes tensor_bytes io_bytes descriptor_bytes gate_bytes hbm_internal \
           hbm_intermediate hbm_io hbm_usage hbm_size hbm_limit end_address private_hbm; do
	lie ../fit/small.hlo "$work/q.json" "s/\"$key\": [0-9]*/\"$key\": 7/"
done
lie ../fit/small.hlo "$work/q.json" 's/"gate_fits": true/"gate_fits": false/'
