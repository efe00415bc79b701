"""SQL92 filters of consumers, as RocketMQ's brokers know them.

    text ─▶ sql_lexer: words ─▶ sql_parser: a tree, its types checked ─▶ sql_compiler: a filter

The compiled filter is evaluated by `protocol/message/property_filter.py`.
"""
