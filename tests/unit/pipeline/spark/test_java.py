import subprocess
from pathlib import Path

import pytest

from aerobee.pipeline.spark.java import NoJava, caches, home_without_vector, java_home, version_in


def pretended_java(home: Path, version: str) -> Path:
    """A `java` that says its version, and otherwise what it was told."""
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    java = home / "bin" / "java"
    java.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = -version ]; then echo \'openjdk version "{version}"\' >&2; exit; fi\n'
        'for word do echo "$word"; done\n'
    )
    java.chmod(0o755)
    return home


def nothing_packaged() -> Path | None:
    return None


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("no such thing", None),
    ],
)
def test_a_version_is_read_from_what_java_says(text: str, version: int | None) -> None:
    assert version_in(text) == version


def test_a_java_that_is_too_old_is_passed_over_for_one_on_the_path(tmp_path: Path) -> None:
    old = pretended_java(tmp_path / "old", "1.8.0_402")
    new = pretended_java(tmp_path / "new", "17.0.1")
    both = {"JAVA_HOME": str(old), "PATH": str(new / "bin")}
    assert java_home(both, packaged=nothing_packaged) == new
    swapped = {"JAVA_HOME": str(new), "PATH": str(old / "bin")}
    assert java_home(swapped, packaged=nothing_packaged) == new


def test_a_link_on_the_path_is_followed_home(tmp_path: Path) -> None:
    new = pretended_java(tmp_path / "new", "21.0.1")
    (tmp_path / "java").symlink_to(new / "bin" / "java")
    assert java_home({"PATH": str(tmp_path)}, packaged=nothing_packaged) == new


def test_without_any_java_the_error_says_how_to_get_one(tmp_path: Path) -> None:
    old = pretended_java(tmp_path / "old", "11.0.2")
    with pytest.raises(NoJava, match=r"there is 11 in .*old.*aerobee\[jre\]"):
        java_home({"JAVA_HOME": str(old), "PATH": ""}, packaged=nothing_packaged)
    with pytest.raises(NoJava, match="there is none"):
        java_home({"JAVA_HOME": str(tmp_path / "nowhere"), "PATH": ""}, packaged=nothing_packaged)


def test_a_packaged_java_gets_a_home_whose_java_leaves_the_vector_module_out(
    tmp_path: Path,
) -> None:
    runtime = pretended_java(tmp_path / "it's packaged", "21.0.8")
    environment = {"PATH": "", "XDG_CACHE_HOME": str(tmp_path / "caches")}
    home = java_home(environment, packaged=lambda: runtime)
    assert home.parent == caches(environment)
    words = [
        "-Xmx1g",
        "--add-modules=jdk.incubator.vector",
        "two words",
        "$HOME",
        "--add-modules=x",
    ]
    said = subprocess.run(
        [home / "bin" / "java", *words], capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines() == ["-Xmx1g", "two words", "$HOME", "--add-modules=x"]
    assert (home / "lib").resolve() == runtime / "lib"
    assert java_home(environment, packaged=lambda: runtime) == home
    assert [one.name for one in home.parent.iterdir()] == [home.name]


def test_two_runtimes_have_two_homes(tmp_path: Path) -> None:
    homes = {
        home_without_vector(pretended_java(tmp_path / name, "21.0.8"), tmp_path / "caches")
        for name in ("a", "b")
    }
    assert len(homes) == 2
