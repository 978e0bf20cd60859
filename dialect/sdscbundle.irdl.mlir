// SPDX-License-Identifier: Apache-2.0
// The sdscbundle dialect as hbmplan emits it, for mlir-opt 19:
//
//   hbmplan plan --emit mlir --mlir-generic -o out program.hbm
//   mlir-opt-19 --irdl-file=sdscbundle.irdl.mlir --verify-each out/bundle_0.mlir
//
// A bundle is one function. Its pool is one allocation, first in the body; every
// address is an index computed from it or from an argument of the kernel.
irdl.dialect @sdscbundle {
  // Address that the launcher passes in.
  irdl.type @input_arg {
    %index = irdl.is index
    irdl.parameters(%index)
  }

  // `size` bytes of HBM that live as long as the bundle runs.
  irdl.operation @device_mem_allocate {
    %index = irdl.is index
    %size = irdl.base "#builtin.integer"
    irdl.attributes { "size" = %size }
    irdl.results(%index)
  }

  // The address of an argument.
  irdl.operation @input_arg_extract {
    %index = irdl.is index
    %arg = irdl.parametric @sdscbundle::@input_arg<%index>
    irdl.operands(%arg)
    irdl.results(%index)
  }

  // Runs the op of a descriptor on addresses, one for each of its symbols.
  irdl.operation @sdsc_execute {
    %index = irdl.is index
    %file = irdl.base "#builtin.string"
    %ids = irdl.base "#builtin.array"
    irdl.attributes { "sdsc_filename" = %file, "symbol_ids" = %ids }
    irdl.operands(variadic %index)
  }
}
