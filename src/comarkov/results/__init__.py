"""Presenting a fit: findings, files, plots and the report."""
