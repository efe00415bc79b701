"""`aerobee completion bash|zsh|fish`: a script that has the shell complete commands.

It is made from the parser itself, so it knows every noun, verb, flag and choice that there is. The
three scripts share one shape: the words so far, without flags and what belongs to them, are a path
in the tree of nouns and verbs, and what can follow is looked up by it.
"""

import argparse
from typing import NamedTuple

from aerobee.cli.cluster_verbs import Verbs, add_noun
from aerobee.cli.nouns import NOUNS
from aerobee.cli.output import OK

_EXAMPLES = """\
  eval "$(aerobee completion bash)"               in this shell, or in ~/.bashrc
  aerobee completion zsh > ~/.zfunc/_aerobee      where $fpath has ~/.zfunc
  aerobee completion fish > ~/.config/fish/completions/aerobee.fish
"""


class Place(NamedTuple):
    """What can follow some words."""

    path: str
    """The words, with a space before each: ` topic create`."""
    words: tuple[str, ...]
    """Nouns or verbs."""
    flags: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    """By flag that takes a value, the choices; empty: anything."""


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "completion", "have the shell complete commands", _EXAMPLES)
    for name in _SCRIPTS:
        parser = verbs.add_parser(name, help=f"a script for {name}")
        parser.set_defaults(verb=print_script, shell=name)


def print_script(parsed: argparse.Namespace) -> int:
    from aerobee.cli.main import parser_for

    print(_SCRIPTS[parsed.shell](places_in(parser_for(tuple(NOUNS)))), end="")
    return OK


def places_in(parser: argparse.ArgumentParser, path: str = "") -> list[Place]:
    """Every place of a parser and of those below it."""
    words: tuple[str, ...] = ()
    flags: list[str] = []
    values: dict[str, tuple[str, ...]] = {}
    below: list[Place] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            words += tuple(action.choices)
            for name, child in action.choices.items():
                below += places_in(child, f"{path} {name}")
        elif action.option_strings:
            flags += action.option_strings
            if action.nargs != 0:
                choices = tuple(map(str, action.choices or ()))
                values.update(dict.fromkeys(action.option_strings, choices))
        elif action.choices:
            words += tuple(map(str, action.choices))
    return [Place(path, words, tuple(flags), values), *below]


def bash_script(places: list[Place]) -> str:
    return f"""\
_aerobee() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local path="" words="" word number
  for ((number = 1; number < COMP_CWORD; number++)); do
    word=${{COMP_WORDS[number]}}
    case "$path $word" in
      {"|".join(f'"{place.path}"' for place in places if place.path)}) path="$path $word" ;;
    esac
  done
  case "$path $before" in
{_cases(places, is_values=True)}\
    *) case "$path" in
{_cases(places, is_values=False)}\
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _aerobee aerobee
"""


def zsh_script(places: list[Place]) -> str:
    known = "|".join(f'"{place.path}"' for place in places if place.path)
    return f"""\
#compdef aerobee
_aerobee() {{
  local before=${{words[CURRENT-1]}} path_so_far="" found="" word number
  for ((number = 2; number < CURRENT; number++)); do
    word=${{words[number]}}
    case "$path_so_far $word" in
      {known}) path_so_far="$path_so_far $word" ;;
    esac
  done
  case "$path_so_far $before" in
{_cases(places, is_values=True, name="found")}\
    *) case "$path_so_far" in
{_cases(places, is_values=False, name="found")}\
    esac ;;
  esac
  if [[ -n $found ]]; then compadd -- ${{=found}}; else _files; fi
}}
if [[ $funcstack[1] == _aerobee ]]; then _aerobee "$@"; else compdef _aerobee aerobee; fi
"""


def fish_script(places: list[Place]) -> str:
    known = " ".join(f"'{place.path}'" for place in places if place.path)
    lines = [
        "function __aerobee_path",
        "  set -l path ''",
        "  for word in (commandline -opc)[2..-1]",
        f'    contains -- "$path $word" {known}; and set path "$path $word"',
        "  end",
        '  echo -- "$path"',
        "end",
        "function __aerobee_at",
        '  test (__aerobee_path) = "$argv[1]"',
        "end",
    ]
    for place in places:
        at = f"complete -c aerobee -n \"__aerobee_at '{place.path}'\""
        if place.words:
            lines.append(f"{at} -f -a '{' '.join(place.words)}'")
        for flag in place.flags:
            how = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
            if flag in place.values:
                choices = place.values[flag]
                how += f" -x -a '{' '.join(choices)}'" if choices else " -r"
            lines.append(f"{at} {how}")
    return "\n".join(lines) + "\n"


def _cases(places: list[Place], *, is_values: bool, name: str = "words") -> str:
    """Lines of a `case`: what follows a flag, or what follows a path."""
    lines = []
    for place in places:
        if is_values:
            for flag, choices in place.values.items():
                lines.append(f'    "{place.path} {flag}") {name}="{" ".join(choices)}" ;;\n')
        else:
            words = " ".join((*place.words, *place.flags))
            lines.append(f'    "{place.path}") {name}="{words}" ;;\n')
    return "".join(lines)


_SCRIPTS = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
