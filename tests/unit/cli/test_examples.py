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
