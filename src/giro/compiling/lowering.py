"""From typed code to LLVM's: numba's own way, but arguments are neither counted nor copied.

numba hands a named tuple to a function field by field, some hundreds of numbers if it is a state of
states. The function then puts the tuple together, counts a reference to each array in it, keeps it
in a place of its own, and takes it apart again for the next call. All of this is optimised away in
the end, but was two thirds of the code that had to be written, read and optimised. An argument is
kept alive by the caller. So here a tuple that is an argument, or a part of one, stays what was
handed over, and only parts that are used are put together.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from llvmlite import ir as llvm  # type: ignore[import-untyped]  # as numba, which pins it
from numba import types
from numba.core import ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import get_definition, guard
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering
from numba.misc.special import literal_unroll


class _Whole(llvm.Value):  # type: ignore[misc]  # llvmlite is untyped
    """A tuple that was handed over: the values of its fields, which nobody has put together yet."""

    def __init__(self, context: Any, kind: Any, fields: Any) -> None:
        self._context, self.kind, self.fields = context, kind, fields
        self.type = context.get_value_type(kind)
        self._parts: dict[int, Any] = {}
        self._value: Any = None

    def part(self, builder: Any, i: int) -> Any:
        """Return one field.

        Its code goes to the function's beginning, for all that use it.
        """
        if i not in self._parts:
            kind, fields = self.kind[i], self.fields[i]
            is_tuple = isinstance(kind, types.BaseTuple)
            whole = _Whole(self._context, kind, fields)
            self._parts[i] = whole if is_tuple else whole.value(builder)
        return self._parts[i]

    def value(self, builder: Any) -> Any:
        """Return the tuple put together."""
        if self._value is None:
            with builder.goto_entry_block():
                self._value = self._put_together(builder)
        return self._value

    def _put_together(self, builder: Any) -> Any:
        if isinstance(self.kind, types.BaseTuple):
            value = llvm.Constant(self.type, llvm.Undefined)
            for i in range(len(self.kind)):
                value = builder.insert_value(value, self.part(builder, i), i)
            return value
        if isinstance(self.kind, types.Boolean):  # numba writes a branch, which cannot stand here
            return builder.icmp_unsigned("!=", self.fields, self.fields.type(0))
        return self._context.data_model_manager[self.kind].from_argument(builder, self.fields)


class _Builder(llvm.IRBuilder):  # type: ignore[misc]  # llvmlite is untyped
    """Writes LLVM's code, for which tuples are put together only where they are needed whole."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """Return a field of a tuple."""
        path = list(idx) if isinstance(idx, Sequence) else [idx]
        while path and isinstance(agg, _Whole):
            agg = agg.part(self, path.pop(0))
        return super().extract_value(agg, path, name) if path else agg

    def insert_value(self, agg: Any, value: Any, idx: Any, name: str = "") -> Any:
        """Return a tuple with another field."""
        return super().insert_value(self._needed(agg), self._needed(value), idx, name)

    def _insert(self, instruction: Any) -> None:
        """Add an instruction, as llvmlite's does."""
        instruction.operands = [self._needed(operand) for operand in instruction.operands]
        super()._insert(instruction)

    def _needed(self, value: Any) -> Any:
        """Return a value that is needed whole."""
        return value.value(self) if isinstance(value, _Whole) else value


class _Lower(Lower):  # type: ignore[misc]  # numba is untyped
    """numba's way to LLVM's code, with arguments as they come."""

    def init(self) -> None:
        """Find the variables that are arguments or parts of them."""
        super().init()
        self._handed_over: dict[str, tuple[int, tuple[int, ...]]] = {}  # argument, way into it
        if self.generator_info is not None:
            return
        assignments = [
            assignment
            for _, block in sorted(self.blocks.items())
            for assignment in block.find_insts(ir.Assign)
        ]
        times = Counter(assignment.target.name for assignment in assignments)
        for assignment in assignments:
            name = assignment.target.name
            origin = self._origin(assignment.value, self.typeof(name))
            if times[name] == 1 and origin is not None:
                self._handed_over[name] = origin

    def _origin(self, value: Any, kind: Any) -> tuple[int, tuple[int, ...]] | None:
        """Return the argument that a value is or is part of, and which part, or None."""
        if isinstance(value, ir.Arg):
            return (value.index, ()) if self.typeof(f"arg.{value.name}") == kind else None
        if isinstance(value, ir.Var):
            return self._handed_over.get(value.name) if self.typeof(value.name) == kind else None
        if not isinstance(value, ir.Expr) or value.op not in ("getattr", "static_getitem"):
            return None
        origin, owner = self._handed_over.get(value.value.name), self.typeof(value.value.name)
        i = _place(value, owner)
        if origin is None or i is None or owner[i] != kind:
            return None
        return origin[0], (*origin[1], i)

    def setup_function(self, fndesc: Any) -> None:
        """Begin a function."""
        super().setup_function(fndesc)
        self.builder = _Builder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def extract_function_arguments(self) -> Any:
        """Return the arguments, with tuples as they were handed over."""
        kinds = self.fndesc.argtypes
        packer = self.context.get_arg_packer(kinds)
        raw = self.call_conv.get_arguments(self.function)
        trees = packer._unflattener.unflatten(raw)
        self.fnargs = [
            _Whole(self.context, kind, tree)
            if isinstance(kind, types.BaseTuple) and _is_plain(kind)
            else model.from_argument(self.builder, tree)
            for kind, tree, model in zip(kinds, trees, packer._dm_args, strict=True)
        ]
        return self.fnargs

    def lower_inst(self, inst: Any) -> None:
        """Write the code of one step.

        Parts of arguments need none.
        """
        if isinstance(inst, ir.Assign) and inst.target.name in self._handed_over:
            return
        if not (isinstance(inst, ir.Del) and inst.value in self._handed_over):
            super().lower_inst(inst)

    def loadvar(self, name: str) -> Any:
        """Return the value of a variable."""
        if name not in self._handed_over:
            return super().loadvar(name)
        argument, path = self._handed_over[name]
        value = self.fnargs[argument]
        return self.builder.extract_value(value, path) if path else value

    def _alloca_var(self, name: str, fetype: Any) -> None:
        if name not in self._handed_over:
            super()._alloca_var(name, fetype)


def _is_plain(kind: Any) -> bool:
    """Return whether a type is made of arrays, numbers and tuples alone."""
    if isinstance(kind, types.BaseTuple):
        return all(map(_is_plain, kind))
    return isinstance(kind, types.Array | types.Number | types.Boolean)


def _place(field: Any, owner: Any) -> int | None:
    """Return which field of a tuple is meant."""
    if field.op == "getattr" and isinstance(owner, types.BaseNamedTuple):
        return owner.fields.index(field.attr) if field.attr in owner.fields else None
    if field.op == "static_getitem" and isinstance(owner, types.BaseTuple):
        index = field.index
        return index if type(index) is int and 0 <= index < len(owner) else None
    return None


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(BaseNativeLowering):  # type: ignore[misc]  # numba is untyped
    """The step of numba's compiler that writes LLVM's code."""

    _name = "giro_lowering"

    @property
    def lowering_class(self) -> type:
        """The class that writes the code."""
        return _Lower


@register_pass(mutates_CFG=False, analysis_only=False)
class ForgetUnrolling(FunctionPass):  # type: ignore[misc]  # numba is untyped
    """The step after which `literal_unroll` is gone: it did its work, and returns its argument."""

    _name = "giro_forget_unrolling"

    def __init__(self) -> None:
        """Begin, which numba wants to be defined."""
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Put the argument in place of every call."""
        code, changed = state.func_ir, False
        for block in code.blocks.values():
            for assignment in block.find_insts(ir.Assign):
                call = assignment.value
                if isinstance(call, ir.Expr) and call.op == "call":
                    called = guard(get_definition, code, call.func)
                    is_name = isinstance(called, ir.Global | ir.FreeVar)
                    if is_name and called.value is literal_unroll:
                        assignment.value, changed = call.args[0], True
        return changed
