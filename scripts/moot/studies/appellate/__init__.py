"""Tables and figures of the appellate study."""
