"""`aerobee completion bash|zsh|fish`: a script that has the shell complete commands.

It is made from the parser itself, so it knows every noun, verb, flag and choice that there is. The
three scripts share one shape: the words so far, without flags and what belongs to them, are a path
in the tree of nouns and verbs, and what can follow is looked up by it. Where that is a name that a
cluster knows, the script runs `aerobee completion names LINE` and offers what it prints
(`cli/commands/completion_names.py`).
"""

import argparse
from math import isfinite
from typing import NamedTuple

from aerobee.cli.cluster_verbs import Verbs, add_noun
from aerobee.cli.commands.completion_names import SECONDS, kind_of, print_names
from aerobee.cli.nouns import NOUNS
from aerobee.cli.output import OK

_EXAMPLES = """\
  eval "$(aerobee completion bash)"               in this shell, or in ~/.bashrc
  aerobee completion zsh > ~/.zfunc/_aerobee      where $fpath has ~/.zfunc
  aerobee completion fish > ~/.config/fish/completions/aerobee.fish
  aerobee completion bash --seconds 3             a cluster far away may take longer
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
    named: frozenset[str] = frozenset()
    """Flags whose values are names that a cluster knows."""
    has_names: bool = False
    """Whether such a name can follow without a flag."""


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "completion", "have the shell complete commands", _EXAMPLES)
    for name in _SCRIPTS:
        parser = verbs.add_parser(name, help=f"a script for {name}")
        parser.set_defaults(verb=print_script, shell=name)
        _add_seconds(parser)
    naming = verbs.add_parser("names", help="the names that fit at the end of a line")
    naming.add_argument("line", help="as far as it is written: 'aerobee topic describe ord'")
    naming.set_defaults(verb=lambda parsed: print_names(parsed.line, parsed.seconds))
    _add_seconds(naming)


def _add_seconds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=SECONDS,
        metavar="N",
        help=f"how long a cluster may take to tell its names ({SECONDS:g})",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not (isfinite(seconds) and seconds > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no time to wait")
    return seconds


def print_script(parsed: argparse.Namespace) -> int:
    from aerobee.cli.main import parser_for

    print(_SCRIPTS[parsed.shell](places_in(parser_for(tuple(NOUNS))), parsed.seconds), end="")
    return OK


def places_in(parser: argparse.ArgumentParser, path: str = "") -> list[Place]:
    """Every place of a parser and of those below it."""
    words: tuple[str, ...] = ()
    flags: list[str] = []
    values: dict[str, tuple[str, ...]] = {}
    named: set[str] = set()
    has_names = False
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
                if kind_of(path, action):
                    named.update(action.option_strings)
        elif action.choices:
            words += tuple(map(str, action.choices))
        elif kind_of(path, action):
            has_names = True
    return [Place(path, words, tuple(flags), values, frozenset(named), has_names), *below]


def bash_script(places: list[Place], seconds: float = SECONDS) -> str:
    return f"""\
_aerobee() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local path="" words="" asks="" word number
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
  COMPREPLY=()
  if [[ -n $asks && $current != -* ]]; then
    while IFS= read -r word; do
      printf -v word %q "$word"
      COMPREPLY+=("$word")
    done < <("${{COMP_WORDS[0]}}" completion names --seconds {seconds:g} \\
      "${{COMP_LINE:0:COMP_POINT}}" 2>/dev/null)
  fi
  if ((${{#COMPREPLY[@]}} == 0)); then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
}}
complete -o default -F _aerobee aerobee
"""


def zsh_script(places: list[Place], seconds: float = SECONDS) -> str:
    known = "|".join(f'"{place.path}"' for place in places if place.path)
    return f"""\
#compdef aerobee
_aerobee() {{
  local before=${{words[CURRENT-1]}} path_so_far="" found="" asks="" word number
  local -a names
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
  if [[ -n $asks && $PREFIX != -* ]]; then
    names=(${{(f)"$(${{(Q)words[1]}} completion names --seconds {seconds:g} \\
      "${{(j: :)words[1,CURRENT-1]}} $PREFIX" 2>/dev/null)"}})
  fi
  if (($#names)); then compadd -a names
  elif [[ -n $found ]]; then compadd -- ${{=found}}; else _files; fi
}}
if [[ $funcstack[1] == _aerobee ]]; then _aerobee "$@"; else compdef _aerobee aerobee; fi
"""


def fish_script(places: list[Place], seconds: float = SECONDS) -> str:
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
        "function __aerobee_names",
        "  string match -q -- '-*' (commandline -ct); and return",
        "  set -l words (commandline -opc)",
        f"  command $words[1] completion names --seconds {seconds:g} "
        "(commandline -cp | string collect) 2>/dev/null",
        "end",
    ]
    asking = "(__aerobee_names)"
    for place in places:
        at = f"complete -c aerobee -n \"__aerobee_at '{place.path}'\""
        if place.words:
            lines.append(f"{at} -f -a '{' '.join(place.words)}'")
        if place.has_names:
            lines.append(f"{at} -f -a '{asking}'")
        for flag in place.flags:
            how = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
            if flag in place.values:
                choices = asking if flag in place.named else " ".join(place.values[flag])
                how += f" -x -a '{choices}'" if choices else " -r"
            lines.append(f"{at} {how}")
    return "\n".join(lines) + "\n"


def _cases(places: list[Place], *, is_values: bool, name: str = "words") -> str:
    """Lines of a `case`: what follows a flag, or what follows a path."""
    lines = []
    for place in places:
        if is_values:
            for flag, choices in place.values.items():
                what = "asks=1" if flag in place.named else f'{name}="{" ".join(choices)}"'
                lines.append(f'    "{place.path} {flag}") {what} ;;\n')
        else:
            words = " ".join((*place.words, *place.flags))
            asks = " asks=1" if place.has_names else ""
            lines.append(f'    "{place.path}") {name}="{words}"{asks} ;;\n')
    return "".join(lines)


_SCRIPTS = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
