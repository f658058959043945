"""No serious accessibility violation of the Lab beyond what Streamlit causes on a bare page."""

import pytest
from axe import TALL, violations


@pytest.mark.parametrize("tab", ["Documents", "Prompt", "Thresholds that matter", "Fit a budget", "Code", "Share"])
def test_no_serious_violation_is_ours(open_lab, streamlits_own, scheme, tab):
    lab = open_lab(f"?tab={tab.replace(' ', '+')}", height=TALL, scheme=scheme)
    assert violations(lab.page) - streamlits_own == set()
