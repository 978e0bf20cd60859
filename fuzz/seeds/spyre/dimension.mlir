// A loop over a dimension in tiles of 64 rows of 128 bytes.
#map_0 = affine_map<(d0)[s0] -> (s0 + 128*d0)>
module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %arg_1_base_addr: !sdscbundle.input_arg<index>, %sym_0_base: !sdscbundle.input_arg<index, granularity=64, max_value=4096>) {
		%pool = sdscbundle.device_mem_allocate 8192 bytes : index
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_1 = sdscbundle.input_arg_extract value from %arg_1_base_addr : !sdscbundle.input_arg<index> -> index
		%sym_0 = sdscbundle.input_arg_extract value from %sym_0_base : !sdscbundle.input_arg<index, granularity=64, max_value=4096> -> index
		%c0 = arith.constant 0 : index
		%step_0 = arith.constant 64 : index
		scf.for %i_0 = %c0 to %sym_0 step %step_0 {
			%addr_0 = affine.apply #map_0(%i_0)[%arg_0]
			sdscbundle.sdsc_execute (%addr_0, %pool) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
			%addr_1 = affine.apply #map_0(%i_0)[%arg_1]
			sdscbundle.sdsc_execute (%pool, %addr_1) {sdsc_filename="sdsc_1.json", "symbol_ids"=[-3, -4]}
		}
		return
	}
}
