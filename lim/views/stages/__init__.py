"""The parts of the Pipeline page: choosing the stages, the diagram, what a run shows, what can be taken home."""
