"""Nodes as they run: processes of their own, a real primary and standby, clients, faults."""
