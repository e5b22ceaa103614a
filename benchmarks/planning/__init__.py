"""The parts of `weft bench planners`, a question each. Every part says what it finds and returns it as plain values."""
