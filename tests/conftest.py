"""What every test shares: no telemetry, and hypothesis without a clock."""

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # before any test module imports Haystack

from hypothesis import settings

# No deadline: the first example pays for imports, and a busy machine is no bug of ours.
settings.register_profile("dev", deadline=None)
# The same examples on every run, so that a red build is the change's fault.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
