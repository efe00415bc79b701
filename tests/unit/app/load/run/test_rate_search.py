from aerobee.app.load.run.rate_search import RateSearch


def tried(search: RateSearch, truth: float) -> list[float]:
    rates = []
    while (rate := search.next_rate()) is not None:
        rates.append(rate)
        search.tell(rate <= truth)
    return rates


def test_it_doubles_then_bisects() -> None:
    search = RateSearch(100, precision=0.1)
    assert tried(search, 330) == [100, 200, 400, 300, 350, 325]
    assert search.found == 325


def test_it_goes_down_when_the_first_does_not_hold() -> None:
    search = RateSearch(1000, precision=0.5)
    assert tried(search, 300) == [1000, 500, 250, 375]
    assert search.found == 250


def test_it_does_not_go_above_what_goes_at_all() -> None:
    search = RateSearch(60, highest=100)
    assert tried(search, 1e9) == [60, 100]
    assert search.found == 100


def test_where_nothing_holds_nothing_is_found() -> None:
    search = RateSearch(8, lowest=2)
    assert tried(search, 0) == [8, 4, 2]
    assert search.found is None


def test_it_ends_after_so_many_tries() -> None:
    search = RateSearch(1, precision=1e-9, tries_max=7)
    assert len(tried(search, 1234.5)) == 7
