"""The shared parts of every group member, pulling or popping: context, requests, offsets, inbox."""
