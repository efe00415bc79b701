"""Sends that are stored once, however often they are tried (docs/formats/deduplication.md).

seen              which sequences of one producer are in one queue, and where
known_producers   all producers: epochs, what they have stored, who is forgotten
finished_rounds   what nobody sends any more: a line for each write instead of its marks
finishing         how that is said, and when marks may go
replay            what the log says that the file does not know yet
epochs            who may send under an id, on the disk before it is told
sequences_file    the rest, on the disk after the log that it speaks of
"""
