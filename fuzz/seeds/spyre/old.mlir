module {
 func.func @sdsc_bundle() {
  sdscbundle.sdsc_execute () {sdsc_filename="sdsc_0.json"} // old form
  return
 }
}
