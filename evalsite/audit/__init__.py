"""The audit log: what researchers and administrators did."""
