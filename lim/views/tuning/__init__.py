"""The parts of the Tune page: the limits, the goal, the queries to look at, what to take home."""
