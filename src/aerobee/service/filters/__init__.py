"""Filters that consumers choose their messages by: SQL92 as RocketMQ's brokers know it.

    text ─▶ sql_lexer: words ─▶ sql_parser: a tree, its types checked ─▶ sql_compiler: a filter

What a filter does with a message is `protocol/message/property_filter.py`.
"""
