"""What a visitor takes home: tables, results, pictures, code, a session, a stand-alone page, a report."""

from lim.export.files import result_json, table_csv
from lim.export.page import LOOKS, MAX_PAGE_DOCUMENTS, standalone_page
from lim.export.pictures import (
    CHART_WIDTH,
    MAX_SCALE,
    PICTURES,
    VEGA_LITE,
    chart_png,
    chart_svg,
    picture,
    pictures_of,
)
from lim.export.report import report_markdown, report_zip
from lim.export.session import session_json
from lim.export.snippets import RESULT_FILE, pipeline_yaml, python_snippet
from lim.export.told import Shown, Texts, redacted, title_of

__all__ = [
    "CHART_WIDTH",
    "LOOKS",
    "MAX_PAGE_DOCUMENTS",
    "MAX_SCALE",
    "PICTURES",
    "RESULT_FILE",
    "VEGA_LITE",
    "Shown",
    "Texts",
    "chart_png",
    "chart_svg",
    "picture",
    "pictures_of",
    "pipeline_yaml",
    "python_snippet",
    "redacted",
    "report_markdown",
    "report_zip",
    "result_json",
    "session_json",
    "standalone_page",
    "table_csv",
    "title_of",
]
