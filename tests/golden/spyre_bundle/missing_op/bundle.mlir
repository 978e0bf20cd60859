#map_0 = affine_map<(d0)[s0] -> (s0 + 8192*d0)>
module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %arg_1_base_addr: !sdscbundle.input_arg<index>) {
		%pool = sdscbundle.device_mem_allocate 8448 bytes : index
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_1 = sdscbundle.input_arg_extract value from %arg_1_base_addr : !sdscbundle.input_arg<index> -> index
		%c0 = arith.constant 0 : index
		%c1 = arith.constant 1 : index
		%loop_bound_0 = arith.constant 4 : index
		%pool_offset_256 = arith.constant 256 : index
		%pool_addr_256 = arith.addi %pool, %pool_offset_256 : index
		scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {
			%addr_0 = affine.apply #map_0(%i_0)[%arg_0]
			sdscbundle.sdsc_execute (%addr_0, %pool_addr_256) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
			%addr_1 = affine.apply #map_0(%i_0)[%arg_1]
			sdscbundle.sdsc_execute (%pool_addr_256, %addr_1) {sdsc_filename="sdsc_1.json", "symbol_ids"=[-3, -4]}
		}
		return
	}
}
