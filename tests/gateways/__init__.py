"""Gateways that are dirty on purpose, one defect each, and a clean one."""
