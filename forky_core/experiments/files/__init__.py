"""Experiments and cases from files: Forky's own form, tables of cases, and promptfoo's configurations."""
