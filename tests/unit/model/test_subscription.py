from aerobee.model.subscription import ConsumeFrom, ConsumeType, MessageModel, Subscription


def test_the_order_of_each_enumeration_is_javas() -> None:
    assert [kind.value for kind in ConsumeType] == [
        "CONSUME_ACTIVELY",
        "CONSUME_PASSIVELY",
        "CONSUME_POP",
    ]
    assert [model.value for model in MessageModel] == ["BROADCASTING", "CLUSTERING"]
    assert [place.value for place in ConsumeFrom] == [
        "CONSUME_FROM_LAST_OFFSET",
        "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
        "CONSUME_FROM_MIN_OFFSET",
        "CONSUME_FROM_MAX_OFFSET",
        "CONSUME_FROM_FIRST_OFFSET",
        "CONSUME_FROM_TIMESTAMP",
    ]


def test_a_subscription_wants_everything_unless_it_says_otherwise() -> None:
    subscription = Subscription("T")
    assert subscription.expression == "*"
    assert subscription.tag_codes is None
    assert subscription.is_by_tag
    assert not Subscription("T", expression_type="SQL92").is_by_tag
