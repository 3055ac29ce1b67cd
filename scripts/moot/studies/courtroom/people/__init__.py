"""People of NLSY97: cleaned columns, narratives, synthetic people."""
