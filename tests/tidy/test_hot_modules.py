import os
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tidy import hot_modules
from tests.tidy.declaration import read_declaration
from tests.tidy.source_tree import SourceTree

Plant = Callable[[dict[str, str]], SourceTree]
Rule = Callable[[SourceTree], list[str]]

RULES: list[Rule] = [
    hot_modules.unequal_attributes,
    hot_modules.unmatched_cimports,
    hot_modules.names_lost_when_compiled,
    hot_modules.decorated_functions,
    hot_modules.swallowed_errors,
    hot_modules.unset_variables,
    hot_modules.silent_modules,
    hot_modules.stale_extensions,
]
PY = "src/aerobee/a/hot.py"
PXD = "src/aerobee/a/hot.pxd"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_hot_modules_of_the_repository_agree_with_their_declarations(
    rule: Rule, repository: SourceTree
) -> None:
    breaches = rule(repository)
    assert not breaches, "\n".join(breaches)


def test_a_declaration_is_read_as_the_compiler_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "x.pxd"
    path.write_text(
        '''import cython
from libc.string cimport memcpy
from aerobee.a.b cimport (
    C, d,  # why
)
cimport aerobee.e

cdef extern from *:
    """
    cdef int not_ours(int x)
    """
    int foreign(int x) noexcept

cdef int _LIMIT
cdef const byte* _NAME

cdef class Thing:
    cdef public Py_ssize_t size
    cdef byte* _memory
    cdef int first, *second, third[4]

    @cython.locals(
        x=int,
    )
    cpdef bytes encode(self, C other)
    cdef void write(
        self, byte* memory,
    ) noexcept

cdef unsigned int crc(const byte* memory) except? 0xFFFFFFFF
'''
    )
    found = read_declaration(path)
    assert [(c.name, c.attributes) for c in found.classes] == [
        ("Thing", {"size", "_memory", "first", "second", "third"})
    ]
    assert found.callables == {"Thing.encode", "Thing.write", "crc"}
    assert found.silent == {"Thing.write"}
    assert found.variables == {"_LIMIT", "_NAME"}
    assert found.cimports == {
        "libc.string": {"memcpy"},
        "aerobee.a.b": {"C", "d"},
        "aerobee.e": set(),
    }


def test_an_attribute_on_one_side_only_is_found(planted: Plant) -> None:
    tree = planted(
        {
            PY: """\
            class A:
                __slots__ = ("kept", "slot_only")
            class B:
                pass
            class Cold:
                pass
            """,
            PXD: """\
            cdef class A:
                cdef int kept
                cdef int pxd_only
            cdef class B:
                cdef int x
            """,
        }
    )
    assert hot_modules.unequal_attributes(tree) == [
        f"{PXD}: A: only on one side: pxd_only, slot_only",
        f"{PXD}: B has no __slots__ in the .py",
    ]


def test_a_cimport_that_the_layer_contracts_cannot_see_is_found(planted: Plant) -> None:
    tree = planted(
        {
            "src/aerobee/b.py": "",
            "src/aerobee/above.py": "",
            "src/aerobee/protocol/primitives/machine.pxd": "",
            PY: "from aerobee.b import B\n",
            PXD: """\
            from aerobee.protocol.primitives.machine cimport byte
            from aerobee.b cimport B
            from aerobee.above cimport Secret
            from libc.string cimport memcpy
            """,
        }
    )
    assert hot_modules.unmatched_cimports(tree) == [
        f"{PXD}: cimports aerobee.above, which the .py does not import"
    ]


def test_a_name_that_only_the_interpreter_would_find_is_found(planted: Plant) -> None:
    tree = planted(
        {
            PY: """\
            if not cython.compiled:
                from aerobee.protocol.primitives.big_endian import load_i32, load_i64
            """,
            PXD: "from aerobee.protocol.primitives.machine cimport load_i32\n",
        }
    )
    assert hot_modules.names_lost_when_compiled(tree) == [f"{PXD}: does not cimport load_i64"]


def test_a_decorator_that_the_compiler_would_drop_is_found(planted: Plant) -> None:
    tree = planted(
        {
            PY: """\
            class A:
                @property
                def cold(self): return 1
                @staticmethod
                def hot(): return 1
                @cython.cfunc
                def fine(self): return 1
            """,
            PXD: "cdef class A:\n    cpdef int hot()\n    cdef int fine(self)\n",
        }
    )
    assert hot_modules.decorated_functions(tree) == [f"{PY}:5: the compiler drops @staticmethod"]


def test_an_error_raised_where_none_can_leave_is_found(planted: Plant) -> None:
    tree = planted(
        {
            PY: """\
            def quiet(x):
                raise ValueError
            def loud(x):
                raise ValueError
            """,
            PXD: "cdef int quiet(int x) noexcept\ncdef int loud(int x) except -1\n",
        }
    )
    assert hot_modules.swallowed_errors(tree) == [
        f"{PY}:2: quiet is noexcept: this error would be lost"
    ]


def test_a_c_variable_without_a_value_is_found(planted: Plant) -> None:
    tree = planted(
        {
            PY: "_A = 1\n_B: int = 2\n_C: int\n(_E, _F) = 1, 2\n",
            PXD: "cdef int _A\ncdef int _B\ncdef int _C\ncdef int _D\ncdef int _E\ncdef int _F\n",
        }
    )
    assert hot_modules.unset_variables(tree) == [
        f"{PXD}: _C is never assigned",
        f"{PXD}: _D is never assigned",
    ]


def test_a_hot_module_that_cannot_say_whether_it_is_compiled_is_found(planted: Plant) -> None:
    tree = planted({PY: "x = 1\n", PXD: "", "src/aerobee/cold.py": "x = 1\n"})
    assert hot_modules.silent_modules(tree) == [f"{PY}: has no is_compiled()"]


def test_an_extension_older_than_its_source_or_without_one_is_found(planted: Plant) -> None:
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    fresh, stale = "src/aerobee/a/fresh", "src/aerobee/a/hot"
    tree = planted(
        {
            f"{fresh}.py": "",
            f"{fresh}.pxd": "",
            PY: "",
            PXD: "from aerobee.a.far cimport x\n",
            "src/aerobee/a/far.pxd": "from aerobee.a.farther cimport x\n",
            "src/aerobee/a/farther.pxd": "",
            f"{fresh}{suffix}": "",
            f"{stale}{suffix}": "",
            f"src/aerobee/a/gone{suffix}": "",
            f"{stale}.cpython-399-x86_64-linux-gnu.so": "",
        }
    )
    for path in (tree.root / "src").rglob("*"):
        os.utime(path, (1_000, 1_000))
    os.utime(tree.root / f"{fresh}{suffix}", (1_001, 1_001))
    os.utime(tree.root / "src/aerobee/a/farther.pxd", (1_002, 1_002))
    assert hot_modules.stale_extensions(tree) == [
        f"src/aerobee/a/gone{suffix}: its .py or .pxd is gone; remove it",
        f"{stale}{suffix}: older than farther.pxd; build it again",
    ]
