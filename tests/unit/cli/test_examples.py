from aerobee.cli.examples import laid_out


def test_what_fits_stays_as_it_is() -> None:
    text = "  aerobee topic list      what there is\n  aerobee topic create orders --queues 8\n"
    assert laid_out(text) == text


def test_what_does_not_fit_goes_below_its_command() -> None:
    command = "  aerobee group subscriptions billing"
    note = "what its members want, and whether they all agree"
    assert laid_out(f"{command}          {note}\n") == f"{command}\n      {note}\n"


def test_a_command_alone_is_not_broken() -> None:
    command = "  aerobee message send orders " + "x" * 80 + "\n"
    assert laid_out(command) == command


def test_notes_come_closer_where_that_is_enough() -> None:
    note = "n" * 50
    text = f"  aerobee up{' ' * 30}{note}\n  aerobee up --temp{' ' * 23}nothing\n  aerobee\n"
    assert laid_out(text) == (
        f"  aerobee up          {note}\n  aerobee up --temp   nothing\n  aerobee\n"
    )
