"""What moved the judge? It answers again about debates without one turn."""
