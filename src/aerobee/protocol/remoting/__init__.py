"""RocketMQ's remoting protocol: frames, header codecs, commands, declared headers, signatures."""
