"""What moved the judge? It answers again about debates with one turn changed."""
