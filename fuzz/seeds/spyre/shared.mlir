// Two ops that run twice: like ops share a descriptor.
module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %arg_1_base_addr: !sdscbundle.input_arg<index>) {
		%pool = sdscbundle.device_mem_allocate 8192 bytes : index
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_1 = sdscbundle.input_arg_extract value from %arg_1_base_addr : !sdscbundle.input_arg<index> -> index
		sdscbundle.sdsc_execute (%arg_0, %pool) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
		sdscbundle.sdsc_execute (%pool, %arg_1) {sdsc_filename="sdsc_1.json", "symbol_ids"=[-3, -4]}
		sdscbundle.sdsc_execute (%arg_0, %pool) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
		sdscbundle.sdsc_execute (%pool, %arg_1) {sdsc_filename="sdsc_1.json", "symbol_ids"=[-3, -4]}
		return
	}
}
