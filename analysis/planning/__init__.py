"""Power, cost and time of a design before anyone rates; from assumed variances or those of a pilot. No database."""
