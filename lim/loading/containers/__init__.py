"""Containers: how bytes become records, whatever the records mean (JSON, tables, workbooks, runs, plain text)."""
