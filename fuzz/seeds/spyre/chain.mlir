// An address that advances with more loops than there are.
#map_0 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7)[s0] -> (s0 + 128*d0 + 128*d1 + 128*d2 + 128*d3 + 128*d4 + 128*d5 + 128*d6 + 128*d7)>
module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>) {
		%c0 = arith.constant 0 : index
		%c1 = arith.constant 1 : index
		scf.for %i_0 = %c0 to %c1 step %c1 {
		scf.for %i_1 = %c0 to %c1 step %c1 {
		scf.for %i_2 = %c0 to %c1 step %c1 {
		scf.for %i_3 = %c0 to %c1 step %c1 {
		scf.for %i_4 = %c0 to %c1 step %c1 {
		scf.for %i_5 = %c0 to %c1 step %c1 {
		scf.for %i_6 = %c0 to %c1 step %c1 {
		scf.for %i_7 = %c0 to %c1 step %c1 {
		%addr_0 = affine.apply #map_0(%i_0, %i_1, %i_2, %i_3, %i_4, %i_5, %i_6, %i_7)[%arg_0_base_addr]
		%addr_1 = affine.apply #map_0(%i_0, %i_1, %i_2, %i_3, %i_4, %i_5, %i_6, %i_7)[%addr_0]
		sdscbundle.sdsc_execute (%addr_1) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1]}
		}}}}}}}}
		return
	}
}
