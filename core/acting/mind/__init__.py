"""The behaviour engine: scripts under way, choices by rule, properties, and what everyone knows of everyone."""
