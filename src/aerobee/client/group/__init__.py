"""The parts that pulling and popping members share: context, requests, offsets, inbox."""
