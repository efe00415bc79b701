"""What a pipeline needs beside a broker, to be tried out: a database of one's own."""
