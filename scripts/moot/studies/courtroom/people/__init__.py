"""People of NLSY97 and COMPAS: cleaned columns, narratives, synthetic people."""
