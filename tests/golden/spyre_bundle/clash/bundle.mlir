module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>) {
		%pool = sdscbundle.device_mem_allocate 16384 bytes : index
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%c0 = arith.constant 0 : index    %c1 = arith.constant 1 : index
		%loop_bound_0 = arith.constant 4 : index
		%pool_offset_0 = arith.constant 0 : index
		%pool_addr_0 = arith.addi %pool, %pool_offset_0 : index
		%pool_offset_8192 = arith.constant 8192 : index
		%pool_addr_8192 = arith.addi %pool, %pool_offset_8192 : index
		sdscbundle.sdsc_execute (%arg_0, %pool_addr_0) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
		scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {
			sdscbundle.sdsc_execute (%pool_addr_0, %pool_addr_8192) {sdsc_filename="sdsc_1.json", "symbol_ids"=[-3, -4]}
			sdscbundle.sdsc_execute (%pool_addr_8192, %pool_addr_0) {sdsc_filename="sdsc_2.json", "symbol_ids"=[-5, -6]}
			sdscbundle.sdsc_execute (%pool_addr_0, %arg_0) {sdsc_filename="sdsc_3.json", "symbol_ids"=[-7, -8]}
		}
		return
	}
}
